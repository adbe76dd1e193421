"""Declares the arguments and results that several `sandbox_*` tools share."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gnomon_tools.core.tool import ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_trips.sandbox.plan import Days
from gnomon_trips.sandbox.record import TravelSandbox

MAX_DAYS = 31
MAX_TEXT = 2_000


class CityArgs(ToolArgs):
    """Which city."""

    city: str = Field(min_length=1, max_length=100, description="name of the city, without its state")


class DayArgs(ToolArgs):
    """One day of a plan; "-" is nothing."""

    days: int = Field(ge=1, le=MAX_DAYS, description="number of the day, from 1")
    current_city: str = Field(
        max_length=MAX_TEXT, description='"from A to B" on a day of travel, else the city'
    )
    transportation: str = Field(
        "-",
        max_length=MAX_TEXT,
        description='"Flight Number: F…, from A to B", "Self-driving, from A to B", "Taxi, from A to B"',
    )
    breakfast: str = Field("-", max_length=MAX_TEXT, description='"NAME, CITY" of a restaurant or "-"')
    attraction: str = Field("-", max_length=MAX_TEXT, description='"NAME, CITY;NAME, CITY;" or "-"')
    lunch: str = Field("-", max_length=MAX_TEXT, description='"NAME, CITY" of a restaurant or "-"')
    dinner: str = Field("-", max_length=MAX_TEXT, description='"NAME, CITY" of a restaurant or "-"')
    accommodation: str = Field("-", max_length=MAX_TEXT, description='"NAME, CITY" of a lodging or "-"')


class PlanArgs(ToolArgs):
    """A whole plan."""

    plan: list[DayArgs] = Field(min_length=1, max_length=MAX_DAYS, description="the days in order")

    def days(self) -> Days:
        return [day.model_dump() for day in self.plan]


class DayRow(ToolResult):
    """One day of a plan in the published form; "-" is nothing."""

    days: int = Field(description="number of the day, from 1")
    current_city: str = Field(description='"from A to B" on a day of travel, else the city')
    transportation: str = Field(description="the way, with its ends")
    breakfast: str = Field(description="restaurant and city")
    attraction: str = Field(description="attractions and cities, each followed by a semicolon")
    lunch: str = Field(description="restaurant and city")
    dinner: str = Field(description="restaurant and city")
    accommodation: str = Field(description="lodging and city")


def day_row(day: Mapping[str, Any]) -> DayRow:
    """A day as tools return it."""
    return DayRow.model_validate(dict(day))


def sandbox_of(context: ToolContext) -> TravelSandbox:
    """The sandbox that the question comes with.

    Raises:
        ToolError: there is none.
    """
    sandbox = context.find(TravelSandbox)
    if sandbox is None:
        raise ToolError("This question has no travel sandbox.")
    return sandbox


def city_of(sandbox: TravelSandbox, name: str) -> str:
    """The known city of this name.

    Raises:
        ToolError: nothing is known of it.
    """
    city = sandbox.city(name)
    if city is None or city not in sandbox.cities:
        raise ToolError(f"Nothing is known of {name!r}. Known cities: {', '.join(sandbox.cities)}.")
    return city
