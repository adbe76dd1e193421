"""Sets the benchmark's own table beside the job's scores by subset (cell)."""

from collections.abc import Iterator, Mapping

from typing_extensions import TypedDict

from gnomon.exchange.imported_job import asked_and_scored, is_imported
from gnomon.report.section import ReportInput, Section
from gnomon.report.sections.arms import ArmsPart
from gnomon.report.text_formats import count

NOT_KNOWN = "Which prompt and which scoring this imported job had is not known here."


class PublishedRow(TypedDict):
    """A row of the benchmark's own table, in fractions."""

    model: str
    group: str
    aggregate: float | None
    by_task: dict[str, float | None]


class PublishedPart(TypedDict):
    """The benchmark's own table, and what must be read beside it."""

    published: list[PublishedRow]
    published_notes: list[str]


def _published(report_input: ReportInput) -> PublishedPart:
    rows = report_input.benchmark.published()
    return {
        "published": [
            {
                "model": row.model,
                "group": row.group,
                "aggregate": row.aggregate,
                "by_task": dict(row.by_task),
            }
            for row in rows
        ],
        "published_notes": list(_notes(report_input)) if rows else [],
    }


def _notes(report_input: ReportInput) -> Iterator[str]:
    spec, samples = report_input.spec, count(len(report_input.scores.samples), "sample")
    yield "The published rows are the paper's own figures: its prompt, its scorer, all of its samples."
    protocol, scoring = asked_and_scored(spec)
    ran = f"This job ran the {protocol} prompt with {scoring} scoring on {samples}."
    yield NOT_KNOWN if is_imported(spec) else ran
    if any(model.id == "reference" for model in spec.models):
        yield (
            "The built-in reference model answers by rules that were made with knowledge of these kinds of "
            "questions, and reads only what programs read: it answers another question than the published "
            "models did, and its figures must not be ranked with theirs."
        )
    if any(spec.arm(arm.name).tools for arm in spec.arms):
        yield "Arms with tools may use data of the scene that the published models never saw."


def _view(report: ArmsPart) -> Mapping[str, object]:
    return {"cells": sorted({cell for arm in report["arms"] for cell in arm["by_task"]})}


published = Section(
    name="published",
    title="Scores by subset",
    question="What did each arm score in each subset (cell), and what did the paper's models score there?",
    fields=PublishedPart,
    compute=_published,
    place=90,
    view=_view,
)
