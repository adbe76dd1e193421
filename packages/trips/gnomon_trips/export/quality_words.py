"""Puts the measures of a plan's quality into words, for pages and Markdown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon_trips.export.result import TripResult

TITLES: Mapping[str, str] = {
    "asked_served": "places asked for",
    "must_see": "places that must be seen",
    "wishes_served": "wishes",
    "even_days": "even days",
    "walking": "walking a day",
    "pace": "pace",
    "meal_times": "meals at their usual hours",
    "opening_slack": "time left before closing",
    "no_waiting": "no waiting",
    "direct_route": "no zigzag",
    "no_crossings": "no crossing of its own way",
    "variety": "kinds of place",
    "different_meals": "different places to eat",
    "diet": "diet",
    "wheelchair": "wheelchair",
    "children": "children",
    "crowds": "away from crowds",
    "budget_kept": "budget",
}
"""The name of each measure as people say it; the best is 100 % of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityRow:
    """A measure in words: its title, its share in percent, the denominator, and what is not known."""

    title: str
    share: str
    counts: str
    unknown: str


def quality_rows(result: TripResult) -> list[QualityRow]:
    """The measures that have a value, in their order."""
    return [
        QualityRow(
            title=title_of(measure),
            share=f"{100 * measure['value']:.0f} %",
            counts=f"{_number(measure['numerator'])} of {_number(measure['denominator'])}: "
            + measure["counts"],
            unknown=f"{measure['unknown']} not known" if measure.get("unknown") else "",
        )
        for measure in result.quality
        if measure["value"] is not None
    ]


def unmeasured(result: TripResult) -> list[str]:
    """Measures that were asked for and have no value, each with the reason."""
    return [
        f"{title_of(measure)} ({measure['reason']})"
        for measure in result.quality
        if measure["value"] is None and measure.get("unknown")
    ]


def title_of(measure: Mapping[str, Any]) -> str:
    """The name of a measure as people say it."""
    return TITLES.get(str(measure["name"]), str(measure["name"]).replace("_", " "))


def _number(value: float) -> str:
    """A count without needless decimals.

    >>> _number(3.0), _number(2.50833)
    ('3', '2.5')
    """
    return f"{value:,.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"
