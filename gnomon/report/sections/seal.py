"""Says what was planned when, what came after, and by what a third party can check it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pydantic import ValidationError
from typing_extensions import TypedDict

from gnomon.core.seal import SealLine, chain_faults
from gnomon.report.section import UNFINISHED, ReportInput, Section
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import JobSpec


class SealRow(TypedDict):
    """One line of the seal: what it fixes, when, and since when a time authority vouches for it."""

    number: int
    kind: str
    sha256: str
    at: str
    rows: int | None
    witnessed_at: str | None
    authority: str | None


class Seal(TypedDict):
    """What was fixed and what came after; `faults` say where the seal does not hold."""

    planned_at: str | None  # None: no plan was sealed before the answers were there
    lines: list[SealRow]
    after: list[str]
    faults: list[str]


class SealPart(TypedDict):
    """The section's field."""

    seal: Seal | None  # None: the job has none


def _seal(report_input: ReportInput) -> SealPart:
    """The seal of the job, and what came after its plan."""
    lines = report_input.seal
    if not lines:
        return {"seal": None}
    first = lines[0]
    seal: Seal = {
        "planned_at": str(first.body["at"]) if first.kind == "planned" else None,
        "lines": list(_rows(lines)),
        "after": list(_after(report_input, lines)),
        "faults": list(chain_faults(lines)),
    }
    return {"seal": seal}


def _rows(lines: Sequence[SealLine]) -> Iterator[SealRow]:
    """The lines but those of time authorities, which are told beside what they sign."""
    signed = {body["of"]: body for body in (line.body for line in lines if line.kind == "time")}
    for line in lines:
        if line.kind == "time":
            continue
        body, signature = line.body, signed.get(line.sha256, {})
        yield {
            "number": int(body["number"]),
            "kind": line.kind,
            "sha256": line.sha256,
            "at": str(body["at"]),
            "rows": body.get("rows"),
            "witnessed_at": signature.get("at"),
            "authority": signature.get("authority"),
        }


def _after(report_input: ReportInput, lines: Sequence[SealLine]) -> Iterator[str]:
    match lines[0].kind:
        case "planned":
            yield from _changes(lines[0].body["spec"], report_input.spec)
        case "imported":
            yield "the answers were there before this plan was sealed: they were imported, or scored again"
        case _:
            yield "no plan was sealed: an older version of Gnomon made the job"
    ends = [line.body for line in lines if line.kind == "results"]
    for end, later in pairwise(ends):
        if later["rows_sha256"] != end["rows_sha256"]:
            number = later["rows"] - end["rows"]
            what = f"{count(number, 'result')} came" if number > 0 else "results were run again"
            yield f"{what} after the job had ended on {end['ended_at']} ({end['status']})"
    rows = sum(totals.trials for totals in report_input.scores.totals)
    if report_input.status in UNFINISHED:
        yield "the job still runs: its results are not sealed yet"
    elif not ends or ends[-1]["rows"] != rows:
        yield f"{count(rows, 'result')} of this report are not sealed yet"
    if report_input.human_answers:
        yield f"{count(len(report_input.human_answers), 'answer')} of people were added"


def _changes(planned: Mapping[str, object], spec: JobSpec) -> Iterator[str]:
    """The fields of the stored spec that are not as they were sealed, both as they are read now."""
    try:
        sealed = JobSpec.model_validate(planned)
    except ValidationError:
        yield "the sealed spec cannot be read by this version of Gnomon"
        return
    for field in JobSpec.model_fields:
        if getattr(sealed, field) != getattr(spec, field):
            yield f"`{field}` of the spec is not as it was planned"


def seal_lines(seal: Seal) -> Iterator[tuple[str, str]]:
    """What was fixed, as pairs of a short title and a sentence."""
    for row in seal["lines"]:
        match row["kind"]:
            case "planned":
                title, what = "Planned", "before any trial ran"
            case "imported":
                title, what = "Taken in", "with answers that were there already"
            case _:
                title, what = "Results", f"{count(row['rows'] or 0, 'row')}"
        witness = (
            f"; signed on {row['witnessed_at']} by {row['authority']}"
            if row["witnessed_at"]
            else "; only this server's clock says so"
        )
        yield title, f"{row['at']}, {what}{witness}. SHA-256 {row['sha256']}"


def _view(report: SealPart) -> Mapping[str, object] | None:
    seal = report.get("seal")  # absent from reports of older versions
    return {"seal": seal, "lines": list(seal_lines(seal))} if seal else None


def _markdown(report: SealPart) -> Iterable[str]:
    seal = report.get("seal")
    if not seal:
        return
    yield from ("", "## Seal", "")
    for title, sentence in seal_lines(seal):
        yield f"- {title}: {sentence}"
    for note in seal["after"]:
        yield f"- After the plan: {note}"
    for fault in seal["faults"]:
        yield f"- **The seal does not hold:** {fault}"


seal = Section(
    name="seal",
    title="Seal",
    question="What was fixed before any answer, what came after, and how can anyone check it?",
    fields=SealPart,
    compute=_seal,
    place=155,
    view=_view,
    markdown=_markdown,
)
