"""Every check of the verifier, with its words: one table for verdicts, rows and pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from gnomon.core.plan_row import ErrorKind
from gnomon_trips.itinerary.data_rows import data_rows

Rank = Literal["hard", "common", "answer", "remark"]
Level = Literal["trip", "day", "stop", "leg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckKind:
    """One check. IMPOSSIBLE is physics: no provider can make it true; TRAVEL_TIME is by provider.

    `rank`: `hard` is what the traveller asked for, `common` common sense, `answer` whether to plan at all; no
    plan fails by a `remark`, and it is counted nowhere. `level` is where it applies. `by_request`: it needs
    the request that a plan answers. `holds` is what a good plan is held to, `topic` what it is about,
    `fails` what is said of a fault, with its fields in braces, `unasked` why it does not apply; all
    but `holds` may be empty.
    """

    rank: Rank
    error_kind: ErrorKind
    level: Level
    by_request: bool
    holds: str
    topic: str
    fails: str
    unasked: str


@cache
def check_kinds() -> Mapping[str, CheckKind]:
    """The checks by their codes, in the order in which a page has them."""
    return {
        row["code"]: CheckKind(
            rank=cast(Rank, row["rank"]),
            error_kind=cast(ErrorKind, row["error_kind"]),
            level=cast(Level, row["level"]),
            by_request=row["by_request"] == "yes",
            holds=row["holds"],
            topic=row["topic"],
            fails=row["fails"],
            unasked=row["unasked"],
        )
        for row in data_rows("checks.csv")
    }


@cache
def codes_of(rank: Rank) -> frozenset[str]:
    """The codes of all checks of a rank."""
    return frozenset(code for code, kind in check_kinds().items() if kind.rank == rank)
