"""Says what must be read before any figure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from typing_extensions import TypedDict

from gnomon.core.missing import (
    IN_SPEC,
    MissingCause,
    advice_on,
    failure_text,
    largest,
    next_step,
    said_in_short,
)
from gnomon.core.model import UNREADABLE
from gnomon.core.near_equal import CONTRADICTION, FACTORS, NEAR_EQUAL, ON_CLUSTERS
from gnomon.core.sample import LACKS_MEDIA
from gnomon.core.score import Outcome
from gnomon.exchange.imported_job import is_imported
from gnomon.report.alert import Alert, alert, line_of
from gnomon.report.reply_alerts import call_alerts, picture_alerts, reply_alerts, setting_alerts
from gnomon.report.reply_words import WORTH_SAYING
from gnomon.report.section import UNFINISHED, ReportInput, Section
from gnomon.report.sections.drift import drift_alerts
from gnomon.report.sections.integrity import integrity
from gnomon.report.sections.letters import letter_alerts
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import shows_media


class AlertsPart(TypedDict):
    """What must be known before any figure."""

    alerts: list[Alert]


def _alerts(report_input: ReportInput) -> AlertsPart:
    return {"alerts": [said for source in SOURCES for said in source(report_input)]}


def _failure(report_input: ReportInput) -> Iterator[Alert]:
    """Why the job failed."""
    if report_input.status == "failed":
        causes = _causes(report_input)
        why = report_input.error or failure_text(causes)
        is_here = not is_imported(report_input.spec)
        then = next_step(each.cause for each in largest(causes)) if is_here else ELSEWHERE
        yield alert("failed", f"The job failed. {why}", advice=then)


def _cancelled(report_input: ReportInput) -> Iterator[Alert]:
    """That the job was stopped by hand: by what it showed until then, or not."""
    planned, ended = report_input.planned, sum(totals.trials for totals in report_input.scores.totals)
    if report_input.status == "cancelled" and ended:
        yield alert(
            "cancelled",
            f"The job was cancelled after {ended:,} of {count(planned, 'trial')}. Verdicts are of those, and "
            "hold only if it was not stopped for what it showed",
            concerned=max(planned - ended, 0),
            n=planned,
            advice=ELSEWHERE if is_imported(report_input.spec) else "`gnomon resume` runs the rest.",
        )


def _waits(report_input: ReportInput) -> Iterator[Alert]:
    """Models whose providers asked to wait."""
    status = report_input.status
    for check in report_input.checks if status != "failed" else ():
        if check.get("waits_until"):
            until = f"{str(check.get('waits_until'))[:16].replace('T', ' ')} UTC"
            reason = said_in_short(check.get("waits_for", ""))
            yield alert(
                "waiting",
                f"its provider says {reason}, and is not called before {until}",
                model=check["model"],
                advice=WAITING[status in UNFINISHED],
            )


def _losses(report_input: ReportInput) -> Iterator[Alert]:
    """Models that were stopped, or lost a twentieth of an arm's trials, and for which reason most."""
    if report_input.status == "failed":  # then that is why
        return
    stopped = {check["model"] for check in report_input.checks if check["state"] == "stopped"}
    scores = report_input.scores
    for cause in largest(_causes(report_input)):
        planned = {
            group: report_input.planned_of(group)
            for (model, _), group in scores.at.items()
            if model == cause.model
        }
        lose_a_twentieth = any(
            scores.missing[group].sum() >= WORTH_SAYING * of for group, of in planned.items()
        )
        if not (cause.model in stopped or lose_a_twentieth):
            continue
        reasons = {group: scores.totals[group].stop_reasons for group in planned}
        under = [group for group in planned if cause.cause in reasons[group].get(Outcome.INFRA_MISSING, ())]
        arm = None
        if len(under) == 1 < len(planned):
            arm, cause = scores.groups[under[0]][1], replace(cause, planned=planned[under[0]])
        yield alert(
            "missing",
            cause.loss(),
            model=cause.model,
            arm=arm,
            concerned=cause.trials,
            n=cause.planned,
            example=cause.error,
            advice=ELSEWHERE if is_imported(report_input.spec) else _advice(cause),
        )


def _advice(cause: MissingCause) -> str:
    """What helps; and how the trials are run then, where that is no matter of course."""
    advice = advice_on(cause.cause, cause.error)
    is_plain = advice and cause.cause not in IN_SPEC
    return advice if is_plain else f"{advice} {next_step([cause.cause])}".strip()


def _uncounted(report_input: ReportInput) -> Iterator[Alert]:
    """Models whose token counts came in a way that cannot be read: their cost is not known."""
    scores = report_input.scores
    for model in dict.fromkeys(model for model, _ in scores.groups):
        groups = scores.totals_of(model)
        trials = sum(totals.trials for totals in groups)
        unread = sum(totals.flags[UNREADABLE] for totals in groups)
        if unread and unread >= WORTH_SAYING * trials:
            yield alert(
                "uncounted",
                f"the provider’s token counts of {unread:,} of {trials:,} trials could not be read",
                model=model,
                concerned=unread,
                n=trials,
                advice="Take tokens and cost from the provider’s own account, or run the job anew on a "
                "server that reports them as whole numbers.",
            )


def _absent_media(report_input: ReportInput) -> Iterator[Alert]:
    for issue in report_input.faults:
        if issue.kind == LACKS_MEDIA and shows_media(report_input.spec):
            yield alert("media", issue.detail, advice="Put them there (docs/media.md) and run a new job.")


def _clusters(report_input: ReportInput) -> Iterator[Alert]:
    """Questions that are asked twice, those of them that contradict each other, and factors of clusters."""
    for issue in report_input.faults:
        if issue.kind in ON_CLUSTERS and not issue.sample_id:
            yield alert(issue.kind, issue.detail, advice=ON_KIN[issue.kind])


def _causes(report_input: ReportInput) -> list[MissingCause]:
    return [MissingCause(**row) for row in report_input.part(integrity)["integrity"]["missing"]]


ON_KIN = {
    NEAR_EQUAL: "Keep one question of each group, and ask others for more clusters.",
    CONTRADICTION: "Leave them out, or put their answers right.",
    FACTORS: "Nothing need be done, unless one factor alone is meant: then name that one as `cluster`.",
}
ELSEWHERE = "Run them where the run was made, and import it anew."
WAITING = {
    True: "The job goes on by itself then.",
    False: "`gnomon resume` runs the rest then.",
}
SOURCES: Sequence[Callable[[ReportInput], Iterable[Alert]]] = (
    _failure,
    _cancelled,
    _waits,
    _losses,
    reply_alerts,
    call_alerts,
    picture_alerts,
    setting_alerts,
    drift_alerts,
    letter_alerts,
    _uncounted,
    _absent_media,
    _clusters,
)


def _terminal(report: AlertsPart) -> Iterator[str]:
    yield from (f"! {line_of(said)}" for said in report["alerts"])
    yield from [""] * bool(report["alerts"])


alerts = Section(
    name="alerts",
    title="Alerts",
    question="What must be known before any figure?",
    fields=AlertsPart,
    compute=_alerts,
    place=15,
    shown_in="job",
    terminal=_terminal,
)
