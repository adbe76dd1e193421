"""What the scheduler is asked about a draft, and what of it is then said to be left out."""

from collections.abc import Mapping
from typing import Any

from gnomon_trips.agents.itinerary.draft_text import Drafted
from gnomon_trips.agents.itinerary.scheduling import as_searched, scheduled_draft

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


PLANNED = {
    "status": "planned",
    "days": [{"visits": [{"place": "helsinki/N1", "name": "Kiasma", "arrive": "10:00", "leave": "11:30"}]}],
    "is_proven": False,
    "cost_error_share": 0.1,
    "seconds": 1.0,
    "left_out": [],
}


def drafted(leave: str) -> Drafted:
    visit = {"place": "helsinki/N1", "arrive": "10:00", "leave": leave, "why": "it is fine"}
    search = {"is_proven": True, "seconds": 9.0, "gap": 0.0}
    return Drafted(plan={"days": [{"visits": [visit]}], "search": search})


def test_a_drafted_word_on_a_search_counts_only_as_plan_trip_gave_it() -> None:
    kept = as_searched(drafted("11:30"), [PLANNED]).plan
    assert kept is not None
    assert kept["search"] == {"is_proven": False, "seconds": 1.0, "gap": 0.1}
    assert kept["days"] == (drafted("11:30").plan or {})["days"]
    for draft, results in ((drafted("11:00"), [PLANNED]), (drafted("11:30"), [])):
        plan = as_searched(draft, results).plan
        assert plan is not None
        assert "search" not in plan


def test_a_refusal_keeps_its_proof_only_where_plan_trip_refused_for_the_same_reasons() -> None:
    refused = {"status": "refused", "days": [], "conflict": ["window"], "is_proven": True, "seconds": 1.0}
    search = {"is_proven": True, "seconds": 1.0}
    for conflict, is_kept in ((["window"], True), (["budget"], False)):
        draft = Drafted(plan={"status": "refused", "conflict": conflict, "search": search})
        assert ("search" in (as_searched(draft, [refused]).plan or {})) == is_kept
