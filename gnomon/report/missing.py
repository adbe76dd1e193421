"""The report's missing trials: why, in whose words, and what must be said before any figure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict  # as in gnomon/report/schema.py

from gnomon.core.missing import MissingCause, failure_text, largest, said_in_short, said_most
from gnomon.core.model import UNREADABLE
from gnomon.core.sample import LACKS_MEDIA, DataFault
from gnomon.core.score import Outcome
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.spec.job_spec import JobSpec, shows_media

WORTH_SAYING = 0.05  # the share of a model's trials from which their loss stands before every figure


class MissingRow(TypedDict):
    """Trials of a model that are missing for one reason, and what was said most often."""

    model: str
    cause: str
    trials: int
    planned: int
    error: str


class ModelCheckRow(TypedDict):
    """A model's preflight: its state, the last fault, and what the calls have cost (None: unknown)."""

    model: str
    state: str
    cause: str
    error: str
    calls: int
    usd: float | None
    tokens: int | None
    waits_until: NotRequired[str | None]  # its provider said in the words of `waits_for` not to call before
    waits_for: NotRequired[str]


def missing_rows(ledger: ScoreMatrix, spec: JobSpec, *, planned: int) -> list[MissingRow]:
    """By model, in the spec's order, and reason, most frequent first; `planned` counts the job's trials."""
    found = [
        _row(ledger, model.label, cause, planned=planned // len(spec.models))
        for model in spec.models
        for cause in _causes(ledger, model.label)
    ]
    order = {model.label: at for at, model in enumerate(spec.models)}
    return sorted(found, key=lambda row: (order[row["model"]], -row["trials"], row["cause"]))


def _causes(ledger: ScoreMatrix, model: str) -> list[str]:
    mine = [tally for group, tally in zip(ledger.groups, ledger.tallies, strict=True) if group[0] == model]
    return sorted({cause for tally in mine for cause in tally.stop_reasons.get(Outcome.INFRA_MISSING, ())})


def _row(ledger: ScoreMatrix, model: str, cause: str, *, planned: int) -> MissingRow:
    errors: dict[str, int] = {}
    trials = 0
    for (label, _), tally in zip(ledger.groups, ledger.tallies, strict=True):
        if label == model and Outcome.INFRA_MISSING in tally.stop_reasons:
            trials += tally.stop_reasons[Outcome.INFRA_MISSING][cause]
            for error, count in tally.errors[cause].items():
                errors[error] = errors.get(error, 0) + count
    return {
        "model": model,
        "cause": cause,
        "trials": trials,
        "planned": planned,
        "error": escape_surrogates(said_most(errors)),
    }


def alerts(
    ledger: ScoreMatrix,
    rows: Sequence[MissingRow],
    spec: JobSpec,
    *,
    status: str,
    error: str,
    checks: Sequence[ModelCheckRow],
    faults: Sequence[DataFault],
) -> list[str]:
    """What stands before every figure: that the job failed and why, which models lost trials or tell no
    readable counts, which media are not there.
    """
    causes = [MissingCause(**row) for row in rows]
    stopped = {check["model"] for check in checks if check["state"] == "stopped"}
    found = [fault.detail for fault in faults if fault.kind == LACKS_MEDIA and shows_media(spec)]
    waits = [_waiting(check, status) for check in checks if check.get("waits_until")]
    if status == "failed":
        return [escape_surrogates(f"The job failed. {error or failure_text(causes)}".strip()), *found]
    lost: Mapping[str, int] = {
        model: sum(one.trials for one in causes if one.model == model) for model in _labels(spec)
    }
    told = [
        escape_surrogates(one.sentence())
        for one in largest(causes)
        if one.model in stopped or lost[one.model] >= WORTH_SAYING * one.planned
    ]
    return [*waits, *told, *_uncounted(ledger), *found]


def _uncounted(ledger: ScoreMatrix) -> Iterator[str]:
    """Models that told their tokens in a way that nobody can read: their cost is not known."""
    for model in dict.fromkeys(model for model, _ in ledger.groups):
        mine = [
            tally for (name, _), tally in zip(ledger.groups, ledger.tallies, strict=True) if name == model
        ]
        trials, unread = sum(one.trials for one in mine), sum(one.flags[UNREADABLE] for one in mine)
        if unread and unread >= WORTH_SAYING * trials:
            of = f"of {unread:,} of {trials:,} trials"
            yield escape_surrogates(f"{model}: the provider’s token counts {of} could not be read.")


def _labels(spec: JobSpec) -> list[str]:
    return [model.label for model in spec.models]


def _waiting(check: ModelCheckRow, status: str) -> str:
    until = f"{str(check.get('waits_until'))[:16].replace('T', ' ')} UTC"
    waits = "waits" if status in ("queued", "running") else f"waited when the job was {status}"
    said = said_in_short(check.get("waits_for", ""))
    return escape_surrogates(f"{check['model']} {waits}: its provider says {said}, not before {until}.")


def preflight_text(check: ModelCheckRow) -> str:
    """What came of a model's preflight, and what it cost beside the trials."""
    state = check["state"]
    if state == "pending":
        state = "broken off" if check["calls"] else "not made"
    said = f" ({check['cause']}: {check['error']})" if check["cause"] else ""
    calls = f"{check['calls']} call{'s' if check['calls'] != 1 else ''}"
    tokens = "unknown" if check["tokens"] is None else f"{check['tokens']:,}"
    usd = "unknown dollars" if check["usd"] is None else f"${check['usd']:.6f}"
    return f"{state}{said}; {calls}, {tokens} tokens, {usd}"
