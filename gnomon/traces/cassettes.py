"""Makes a cassette of a job's stored traces: the calls of its tool servers, as its trials recorded them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import IO, Any

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.cassette_toolbox import under
from tools.core.toolbox import BAD_CALL
from tools.servers.cassette import RecordedCall, canonical, write_cassette


def job_cassette(
    file: IO[bytes],
    spec: JobSpec,
    rows: Iterable[Row],
    trace: Callable[[str], Mapping[str, Any] | None],
    media: MediaStore,
    *,
    job: str = "",
    arms: Collection[str] | None = None,
) -> int:
    """Write the cassette of a job, of all its arms or of some, and return how many calls it holds.

    Raises:
        SpecError: the job has no tool servers.
        NotFound: a picture that a call gave back is no longer among the media.
    """
    if not spec.servers:
        raise SpecError("the job has no tool servers", field="JOB")
    names = spec.server_tools.keys()
    kept = (row for row in rows if arms is None or row.arm in arms)
    calls = (call for row in kept for call in _calls(row, trace(row.trial_id), names, spec))
    return write_cassette(file, servers=spec.servers, calls=calls, picture=media.read, job=job)


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
