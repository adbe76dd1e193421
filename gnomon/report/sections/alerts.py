"""Says what must be read before any figure."""

from collections.abc import Iterator, Mapping

from typing_extensions import TypedDict

from gnomon.core.missing import MissingCause, failure_text, largest, said_in_short
from gnomon.core.model import UNREADABLE
from gnomon.core.sample import LACKS_MEDIA
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import UNFINISHED, ReportInput, Section
from gnomon.report.sections.integrity import integrity
from gnomon.report.sections.preflights import ModelCheckRow
from gnomon.report.text_formats import escape_markdown
from gnomon.spec.job_spec import shows_media

WORTH_SAYING = 0.05  # the share of a model's trials from which their loss is said before every figure


class AlertsPart(TypedDict):
    """What must be known before any figure."""

    alerts: list[str]


def _alerts(report_input: ReportInput) -> AlertsPart:
    """Why the job failed, which models lost trials or report no readable counts, which media lack."""
    spec, status, checks = report_input.spec, report_input.status, report_input.checks
    causes = [MissingCause(**row) for row in report_input.part(integrity)["integrity"]["missing"]]
    stopped = {check["model"] for check in checks if check["state"] == "stopped"}
    lacking = [
        issue.detail for issue in report_input.faults if issue.kind == LACKS_MEDIA and shows_media(spec)
    ]
    if status == "failed":
        why = report_input.error or failure_text(causes)
        return {"alerts": [escape_surrogates(f"The job failed. {why}".strip()), *lacking]}
    waits = [_waiting(check, status) for check in checks if check.get("waits_until")]
    lost: Mapping[str, int] = {
        model: sum(cause.trials for cause in causes if cause.model == model) for model in report_input.models
    }
    losses = [
        escape_surrogates(cause.sentence())
        for cause in largest(causes)
        if cause.model in stopped or lost[cause.model] >= WORTH_SAYING * cause.planned
    ]
    return {"alerts": [*waits, *losses, *_uncounted(report_input.scores), *lacking]}


def _uncounted(scores: ScoreMatrix) -> Iterator[str]:
    """Models whose token counts came in a way that cannot be read: their cost is not known."""
    for model in dict.fromkeys(model for model, _ in scores.groups):
        groups = scores.totals_of(model)
        trials = sum(totals.trials for totals in groups)
        unread = sum(totals.flags[UNREADABLE] for totals in groups)
        if unread and unread >= WORTH_SAYING * trials:
            of = f"of {unread:,} of {trials:,} trials"
            yield escape_surrogates(f"{model}: the provider’s token counts {of} could not be read.")


def _waiting(check: ModelCheckRow, status: str) -> str:
    until = f"{str(check.get('waits_until'))[:16].replace('T', ' ')} UTC"
    waits = "waits" if status in UNFINISHED else f"waited when the job was {status}"
    reason = said_in_short(check.get("waits_for", ""))
    return escape_surrogates(f"{check['model']} {waits}: its provider says {reason}, not before {until}.")


def _markdown(report: AlertsPart) -> Iterator[str]:
    return (f"- **{escape_markdown(alert)}**" for alert in report["alerts"])


def _terminal(report: AlertsPart) -> Iterator[str]:
    yield from (f"! {alert}" for alert in report["alerts"])
    yield from [""] * bool(report["alerts"])


alerts = Section(
    name="alerts",
    title="Alerts",
    question="What must be known before any figure?",
    fields=AlertsPart,
    compute=_alerts,
    place=15,
    shown_in="job",
    markdown=_markdown,
    terminal=_terminal,
)
