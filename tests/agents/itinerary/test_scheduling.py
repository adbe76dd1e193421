"""What the scheduler is asked about a draft, and what of it is then said to be left out."""

from collections.abc import Mapping
from typing import Any

from agents.itinerary.draft_text import Drafted
from agents.itinerary.scheduling import scheduled_draft

KIASMA = {"place": "helsinki/N1", "name": "Kiasma", "arrive": "10:00", "leave": "11:00"}


async def test_a_place_that_must_be_visited_is_not_left_out_under_another_of_its_names() -> None:
    async def ask(given: dict[str, Any]) -> Mapping[str, Any]:
        if given["places"] == ["Kiasma"]:
            return {"days": [{"visits": [KIASMA]}]}
        return {"error": "infeasible: these cannot be kept together: window"}

    visits = [{"place": place, "arrive": "09:00", "leave": "09:10"} for place in ("helsinki/N1", "Ateneum")]
    made, word = await scheduled_draft(Drafted(plan={"days": [{"visits": visits}]}), ["Kiasma"], ask)
    assert made.plan is not None
    assert word == "the places shared out anew"
    assert made.plan["skipped"] == ["Ateneum"]
