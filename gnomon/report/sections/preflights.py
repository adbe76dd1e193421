"""Reports the check that each model goes through before its trials."""

from typing import NotRequired

from typing_extensions import TypedDict

from gnomon.fitness.table import Fitness
from gnomon.report.section import ReportInput, Section


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
    asks_for: NotRequired[str]  # of a call in flight, for `asks_s` seconds by now
    asks_s: NotRequired[float | None]
    fitness: NotRequired[Fitness | None]  # what was found out about the endpoint; None: not known


class PreflightsPart(TypedDict):
    """The preflights of all models."""

    preflights: list[ModelCheckRow]


def _preflights(report_input: ReportInput) -> PreflightsPart:
    return {"preflights": list(report_input.checks)}


def preflight_text(check: ModelCheckRow) -> str:
    """What came of a model's preflight, and what it cost beside the trials."""
    state = check["state"]
    if state == "pending":
        state = "broken off" if check["calls"] else "not made"
    cause = f" ({check['cause']}: {check['error']})" if check["cause"] else ""
    calls = f"{check['calls']} call{'s' if check['calls'] != 1 else ''}"
    tokens = "unknown" if check["tokens"] is None else f"{check['tokens']:,}"
    usd = "unknown dollars" if check["usd"] is None else f"${check['usd']:.6f}"
    fitness = check.get("fitness")
    findings = f"; {fitness['sentence']}" if fitness else ""
    return f"{state}{cause}; {calls}, {tokens} tokens, {usd}{findings}".rstrip(".")


preflights = Section(
    name="preflights",
    title="Preflights",
    question="Did every model answer before its trials began, and what did asking cost?",
    fields=PreflightsPart,
    compute=_preflights,
    place=125,
    shown_in="cost",
)
