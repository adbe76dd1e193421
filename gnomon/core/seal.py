"""A job's seal: lines that fix what was planned and what came of it, for anyone to check.

Each line is one JSON object in ASCII. From the second on it holds, as `previous`, the SHA-256 of the line
before it, so no line can be changed, dropped or put in between without a trace. `docs/seal.md` shows how to
check a seal with standard tools alone.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnomon.core.sample import SampleRef

Kind = Literal["planned", "imported", "results", "time"]
_PLANNED = {"at": str, "trials": int, "samples": int}
FIELDS: Mapping[Kind, Mapping[str, type]] = {  # what a check of a line reads, beside its place in the chain
    "planned": _PLANNED,
    "imported": _PLANNED,
    "results": {"at": str, "rows": int, "columns": list, "rows_sha256": str},
    "time": {"of": str, "authority": str, "reply": str},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SealLine:
    """One line: what it is, and the exact text that the next line's `previous` is the hash of."""

    kind: Kind
    text: str

    @property
    def sha256(self) -> str:
        """The line's name: its SHA-256 in hex digits, without the line's end."""
        return sha256_of(self.text)

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.text)
        return body


def next_line(earlier: Sequence[str], kind: Kind, body: Mapping[str, Any]) -> SealLine:
    """The line that follows these.

    >>> first = next_line([], "planned", {"job": "j_1"})
    >>> first.text
    '{"number":0,"previous":"","kind":"planned","job":"j_1"}'
    >>> next_line([first.text], "results", {}).body["previous"] == first.sha256
    True
    """
    head = {"number": len(earlier), "previous": sha256_of(earlier[-1]) if earlier else "", "kind": kind}
    return SealLine(kind=kind, text=json.dumps({**head, **body}, separators=(",", ":")))


def sha256_of(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class PlannedSamples:
    """Counts and digests the samples of a plan as they pass by, in their order.

    `sha256` is that of the lines `sample_id TAB cluster TAB cell`.
    """

    def __init__(self) -> None:
        self.count = 0
        self._digest = hashlib.sha256()

    def noting(self, refs: Iterable[SampleRef]) -> Iterator[SampleRef]:
        """The same samples, each noted as it is passed on."""
        for ref in refs:
            line = f"{ref.sample_id}\t{ref.cluster}\t{ref.cell}\n"
            self._digest.update(line.encode("utf-8", "backslashreplace"))
            self.count += 1
            yield ref

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def plan_body(
    *, job_id: str, at: str, spec: Mapping[str, Any], samples: PlannedSamples, trials: int
) -> dict[str, Any]:
    """What a plan's line says: the frozen spec with its analysis, and which samples were selected."""
    return {
        "job": job_id,
        "at": at,
        "trials": trials,
        "samples": samples.count,
        "samples_sha256": samples.sha256,
        "spec": spec,
    }


def read_lines(lines: Iterable[str]) -> list[SealLine]:
    """The lines of a stored or downloaded seal.

    Raises:
        ValueError: a line is not one of a seal; the message counts from 1.
    """
    read = []
    for number, text in enumerate(lines, start=1):
        try:
            kind = json.loads(text)["kind"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError(f"line {number} is not a line of a seal") from None
        if kind not in ("planned", "imported", "results", "time"):
            raise ValueError(f"line {number} has the unknown kind {kind!r}")
        read.append(SealLine(kind=kind, text=text))
    return read


def field_fault(line: SealLine) -> str:
    """Which field of a line is absent or of another type, in words; empty where none is.

    >>> field_fault(next_line([], "time", {"of": "", "authority": "", "reply": 1}))
    "'reply' is missing, or not a str"
    """
    body = line.body
    for name, kind in FIELDS[line.kind].items():
        if type(body.get(name)) is not kind:
            return f"{name!r} is missing, or not a {kind.__name__}"
    return ""


def chain_faults(lines: Sequence[SealLine]) -> Iterator[str]:
    """Where the chain is broken, in words; nothing where it holds.

    >>> first = next_line([], "planned", {"job": "j_1"})
    >>> second = next_line([first.text], "results", {"rows": 4})
    >>> list(chain_faults([first, second]))
    []
    >>> list(chain_faults([SealLine(kind="planned", text=first.text.replace("j_1", "j_2")), second]))
    ['line 2 follows another line than the one before it: line 1 was changed, or lines are missing']
    """
    previous = ""
    for number, line in enumerate(lines, start=1):
        body = line.body
        if body.get("number") != number - 1:
            yield f"line {number} has the number {body.get('number')!r}, not {number - 1}"
        if body.get("previous") != previous:
            yield (
                f"line {number} follows another line than the one before it: line {number - 1} was changed,"
                " or lines are missing"
            )
        previous = line.sha256
