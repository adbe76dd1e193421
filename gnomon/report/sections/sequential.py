"""Shows the looks at a job that may stop early, and what they have saved."""

from collections.abc import Iterator, Mapping, Sequence

from typing_extensions import TypedDict

from gnomon.report.charts import Mark, difference_plot
from gnomon.report.section import ReportInput, Section
from gnomon.report.sections.job import JobPart
from gnomon.report.sequence import LookedAtPair, StoredLook, stop_words
from gnomon.report.text_formats import count, points, points_brackets

SHOWN = 24  # looks in a picture: the first, the last, and even steps between them


class SequentialReport(TypedDict):
    """The looks. `decided` is the one that stopped the job; None: none did. `trials_not_run` are those it did
    without, `trials_after` those that ended after that look: in flight then, or run on request.
    """

    planned_samples: int
    planned_clusters: int
    samples_not_run: int
    trials_not_run: int
    trials_after: int
    decided: StoredLook | None
    looks: list[StoredLook]


class SequentialPart(TypedDict):
    """Of a job with `analysis.sequential`, else None."""

    sequential: SequentialReport | None


class _Shown(JobPart, SequentialPart):
    """What the section shows."""


def _sequential(report_input: ReportInput) -> SequentialPart:
    plan, decided = report_input.drawn_plan, report_input.stopped_early
    if plan is None:
        return {"sequential": None}
    ended = int(report_input.scores.answered.sum() + report_input.scores.missing.sum())
    return {
        "sequential": {
            "planned_samples": len(plan.places),
            "planned_clusters": plan.clusters_n,
            "samples_not_run": plan.not_run if report_input.has_stopped else 0,
            "trials_not_run": max(report_input.planned - ended, 0) if report_input.has_stopped else 0,
            "trials_after": max(ended - decided["trials"], 0) if decided else 0,
            "decided": decided,
            "looks": list(report_input.looks),
        }
    }


def _view(report: _Shown) -> Mapping[str, object] | None:
    sequential = report.get("sequential")  # absent from reports of older versions
    if sequential is None:
        return None
    return {
        "sentences": list(_sentences(sequential)),
        "pictures": list(_pictures(report, sequential)),
        "looks": _even(sequential["looks"]),
    }


def _sentences(sequential: SequentialReport) -> Iterator[str]:
    samples, clusters = sequential["planned_samples"], sequential["planned_clusters"]
    decided = sequential["decided"]
    if decided is None:
        looks = count(len(sequential["looks"]), "look")
        planned = f"{count(samples, 'sample')} in {count(clusters, 'cluster')}"
        yield f"{looks}, {planned} planned: not stopped early."
        return
    after = f"{decided['samples']:,} of {count(samples, 'sample')} in {decided['clusters']:,} of "
    how, why = stop_words(decided)
    at = decided["at"][:19].replace("T", " ")
    yield f"{how}{why}, after {after}{count(clusters, 'cluster')}, at {at} UTC."
    if sequential["trials_not_run"]:
        trials, saved = sequential["trials_not_run"], sequential["samples_not_run"]
        yield f"Not run, as the job stopped early: {count(trials, 'trial')}, {count(saved, 'sample')} in all."
    if sequential["trials_after"]:
        yield f"Ended after that look: {count(sequential['trials_after'], 'trial')}, in flight or resumed."


def _pictures(report: _Shown, sequential: SequentialReport) -> Iterator[object]:
    """Of each primary contrast its interval at each look."""
    looks = _even(sequential["looks"])
    pairs = looks[-1]["contrasts"] if looks else []
    for at, pair in enumerate(pairs):
        marks = [_mark(look, look["contrasts"][at]) for look in looks]
        title = f"{pair['variant']} − {pair['baseline']} ({pair['model']}) at each look, points"
        yield difference_plot(marks, title=title, margin=report["job"]["margin"])


def _even(looks: Sequence[StoredLook]) -> list[StoredLook]:
    """At most SHOWN of them, the one that decided among them."""
    if len(looks) <= SHOWN:
        return list(looks)
    shown = {round(step * (len(looks) - 1) / (SHOWN - 1)) for step in range(SHOWN)}
    return [look for at, look in enumerate(looks) if at in shown or look["decided"]]


def _mark(look: StoredLook, pair: LookedAtPair) -> Mark:
    size = "" if pair["diff"] is None else points(pair["diff"])
    where = f"{pair['samples']:,} in {pair['clusters']:,}"
    return Mark(
        label=f"{where} ✓" if look["decided"] else where,
        value=pair["diff"],
        interval=pair["ci95"],
        note=f"{size}{points_brackets(pair['ci95'])}",
        kind=pair["verdict"],
        is_total=look["decided"],
    )


sequential = Section(
    name="sequential",
    title="Looks before the end",
    question="When was the job looked at, and when was it decided?",
    fields=SequentialPart,
    compute=_sequential,
    place=55,
    view=_view,
)
