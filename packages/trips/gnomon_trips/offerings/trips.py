"""The example trip, requests of trips, and the tools of `gnomon mcp`."""

import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_workbench.offering import InputSource, Offering, OpenedInput

if TYPE_CHECKING:
    from gnomon_workbench.mcp_server.offer import ServedTool

AREA = "helsinki"
REQUEST = {
    "id": "helsinki-two-days",
    "area": AREA,
    "start_date": "2026-06-10",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex"],
}


def _mcp_tools() -> Sequence["ServedTool"]:
    from gnomon_trips.service.mcp_tools import trip_tools

    return trip_tools()


@functools.cache
def _example() -> OpenedInput:
    """The request of the example trip with its places and ways."""
    trip = answered(open_trip(read_request(REQUEST), embedded(AREA)), is_local=True)
    return OpenedInput(
        "a trip to Helsinki", ToolContext(inputs=held(trip), is_free=True), json.dumps(REQUEST)
    )


def _read(value: object) -> OpenedInput | None:
    if not (isinstance(value, dict) and "area" in value):
        return None
    from gnomon_trips.benchmarks.itinerary.brief import request_task

    context = ToolContext(inputs=held(request_task(value).trip), is_free=True)
    title = f"the request of a trip to {value['area']}"
    return OpenedInput(title, context, json.dumps(value, ensure_ascii=False))


trips = Offering(
    name="trips",
    description="Trips that tools are called on, and the planner for other programs.",
    inputs=(
        InputSource(
            kind=Trip,
            choices={AREA: "a trip to Helsinki"},
            open=lambda key: _example() if key == AREA else None,
            read=_read,
        ),
    ),
    mcp_tools=_mcp_tools,
    mcp_instructions="plan_itinerary plans a trip and verifies the plan.",
)
