"""Computes what a row adds to the paper's rates, and the kind of error of each broken rule."""

from collections.abc import Mapping

from gnomon.core.plan_row import NOT_DELIVERED, ErrorKind, Passed, PlanRow, Rate, errors_by_kind, number_of
from gnomon.core.row import Row
from gnomon_trips.sandbox.rules import COMMONSENSE

RULE_KINDS: Mapping[str, ErrorKind] = {
    "in_sandbox": "names",
    "in_current_city": "routes",
    "city_route": "routes",
    "transport_conflict": "routes",
    "diverse_restaurants": "constraints",
    "diverse_attractions": "constraints",
    "minimum_nights": "constraints",
    "budget": "constraints",
    "house_rule": "constraints",
    "room_type": "constraints",
    "cuisine": "constraints",
    "transport": "constraints",
    "complete": "form",
}
"""Of every rule. No rule judges hours or what a plan adds up, and no task may be refused."""

KINDS: Mapping[str, ErrorKind] = {
    **{f"breaks:{rule}": kind for rule, kind in RULE_KINDS.items()},
    NOT_DELIVERED: "form",
    "official_raises": "form",
}


def plan_row(row: Row) -> PlanRow:
    """The paper's rates, to which what is not delivered adds nothing kept, and the errors of a scored row."""
    delivered = number_of(row.metrics, "delivered") or 0.0
    flags = row.flags
    if not delivered and not any(flag.startswith((NOT_DELIVERED, "official_raises")) for flag in flags):
        flags = (*flags, f"{NOT_DELIVERED}: {row.stop_reason}")
    rules = float(len(COMMONSENSE))
    rates: dict[Rate, Passed] = {
        "delivery": (delivered, 1.0),
        "commonsense_micro": (rules * (number_of(row.metrics, "commonsense_micro") or 0.0), rules),
        "commonsense_macro": (number_of(row.metrics, "commonsense_macro") or 0.0, 1.0),
        "hard_micro": (number_of(row.metrics, "hard_passed") or 0.0, number_of(row.metrics, "hard_asked")),
        "hard_macro": (number_of(row.metrics, "hard_macro") or 0.0, 1.0),
        "final_pass": (number_of(row.metrics, "final_pass") or 0.0, 1.0),
    }
    return PlanRow(rates=rates, errors=errors_by_kind(flags, KINDS))
