"""Tells how one check of anyone's plan went."""

from dataclasses import dataclass
from typing import Literal

State = Literal["holds", "fails", "unchecked", "remark", "does_not_apply"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place where a check fails or could not be made: what was found, what is true, and the source."""

    where: str
    reason: str
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCheck:
    """One check: its state, for how many it holds, where it does not, and what it rests on."""

    code: str
    label: str
    state: State
    note: str = ""
    points: tuple[Point, ...] = ()
    evidence: tuple[str, ...] = ()
