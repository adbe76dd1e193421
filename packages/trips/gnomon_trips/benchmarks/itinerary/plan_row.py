"""Computes what a row of trips adds to the rates of plans, and the kind of error of each of its flags."""

from collections.abc import Mapping

from gnomon.core.plan_row import NOT_DELIVERED, ErrorKind, Passed, PlanRow, Rate, errors_by_kind, number_of
from gnomon.core.row import Row
from gnomon_trips.itinerary.verify.check_kinds import check_kinds

UNPROVEN = "refusal_unproven"  # a refusal whose reasons no search proves
WRONG_ORDER, WRONG_INCLUSIONS, WRONG_TRANSITIONS = "wrong_order", "wrong_inclusions", "wrong_transitions"

OWN_KINDS: Mapping[str, ErrorKind] = {
    WRONG_INCLUSIONS: "names",
    WRONG_ORDER: "routes",
    WRONG_TRANSITIONS: "routes",
    NOT_DELIVERED: "form",
    "not_understood": "form",
    UNPROVEN: "refusals",
}
"""Of every flag that is an error and no code of the verifier; remarks and unchecked are none."""

PLANLESS = ("rail-trip", "graph")  # families whose answer is an order or a graph
IMPOSSIBLE = "must-refuse"


def plan_row(row: Row) -> PlanRow:
    """The rates and errors of a scored row.

    Rates of plans count requests that can be planned; what is refused or not delivered there keeps nothing.
    Orders and graphs count for delivery alone.
    """
    flags = row.flags
    delivered = number_of(row.metrics, "delivered") or 0.0
    if not delivered and not any(flag.startswith(("not_", "SCHEMA")) for flag in flags):
        flags = (*flags, f"{NOT_DELIVERED}: {row.stop_reason}")
    rates: dict[Rate, Passed] = {"delivery": (delivered, 1.0)}
    if row.task not in PLANLESS:
        is_possible = row.metrics.get("refusal_recall") is None and row.task != IMPOSSIBLE
        rates |= _plan_rates(row) if is_possible else {}
        rates |= _refusal_rates(row)
    return PlanRow(rates=rates, errors=errors_by_kind(flags, error_kinds()))


def error_kinds() -> Mapping[str, ErrorKind]:
    """The kind of error of every code of the verifier and every other flag that is an error."""
    return {**{code: kind.error_kind for code, kind in check_kinds().items()}, **OWN_KINDS}


def _plan_rates(row: Row) -> dict[Rate, Passed]:
    return {
        "commonsense_micro": _checks(row, "common"),
        "commonsense_macro": (number_of(row.metrics, "common_macro") or 0.0, 1.0),
        "hard_micro": _checks(row, "hard"),
        "hard_macro": (number_of(row.metrics, "hard_macro") or 0.0, 1.0),
        "final_pass": (number_of(row.metrics, "final_pass") or 0.0, 1.0),
    }


def _checks(row: Row, group: str) -> Passed:
    """Checks that hold of those that apply; rows of older versions hold their share alone."""
    applied = number_of(row.metrics, f"{group}_checked")
    if applied is not None:
        return number_of(row.metrics, f"{group}_held") or 0.0, applied
    share = number_of(row.metrics, f"{group}_micro")
    return (0.0, None) if share is None else (share, 1.0)


def _refusal_rates(row: Row) -> dict[Rate, Passed]:
    rates: dict[Rate, Passed] = {}
    precision, recall = number_of(row.metrics, "refusal_precision"), number_of(row.metrics, "refusal_recall")
    proven = number_of(row.metrics, "conflict_proven")
    if precision is not None:
        rates["refusal_precision"] = (precision, 1.0)
    if recall is not None or row.task == IMPOSSIBLE:
        rates["refusal_recall"] = (recall or 0.0, 1.0)
    if proven is not None:
        rates["refusal_proven"] = (proven, 1.0)
    return rates
