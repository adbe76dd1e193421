"""Makes a cassette of a job's stored traces: the calls of its tool servers, as its trials recorded them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from gnomon.conditions.cassette import under
from gnomon.core.errors import NotFound, SpecError
from gnomon.core.row import Row
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.core.toolbox import BAD_CALL
from gnomon_tools.servers.cassette import RecordedCall, canonical, cassette_lines


def job_cassette(
    spec: JobSpec,
    rows: Iterable[Row],
    trace: Callable[[str], Mapping[str, Any] | None],
    picture: Callable[[str], bytes | None],
    *,
    job: str = "",
    arms: Collection[str] | None = None,
) -> Iterator[bytes]:
    """The lines of the cassette of a job, of all its arms or of some.

    Raises:
        SpecError: the job has no tool servers.
    """
    if not spec.servers:
        raise SpecError("the job has no tool servers", field="JOB")
    names = spec.server_tools.keys()
    kept = (row for row in rows if arms is None or row.arm in arms)
    calls = (call for row in kept for call in _calls(row, trace(row.trial_id), names, spec))

    def bytes_of(sha256: str) -> bytes:
        data = picture(sha256)
        if data is None:
            raise NotFound(f"the picture {sha256[:12]}… of a call is no longer among the media")
        return data

    return cassette_lines(spec.servers, calls, bytes_of, job=job)


def _calls(
    row: Row, trace: Mapping[str, Any] | None, names: Collection[str], spec: JobSpec
) -> Iterator[RecordedCall]:
    times: Counter[tuple[str, str]] = Counter()
    for step in (trace or {}).get("steps") or ():
        if step.get("kind") != "tool" or step["name"] not in names or step.get("error") in BAD_CALL:
            continue
        key = (step["name"], canonical(step["arguments"]))
        yield RecordedCall(
            sample=row.sample_id,
            tool=step["name"],
            arguments=key[1],
            n=times[key],
            model=row.model,
            arm=row.arm,
            repeat=row.repeat,
            under=under(spec.arm(row.arm)),
            result=step["observation"],
            error=step.get("error"),
            injected=step.get("injected"),
            pictures=tuple(step.get("pictures") or ()),
        )
        times[key] += 1
