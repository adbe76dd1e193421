"""Reports the check that each model goes through before its trials."""

from typing_extensions import TypedDict

from gnomon.report.section import ModelCheckRow, ReportInput, Section


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
