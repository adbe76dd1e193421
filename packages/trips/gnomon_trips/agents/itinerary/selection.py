"""Has the model choose the places that a trip has room for; what it leaves open is decided by importance."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.core.agent import AgentContext
from gnomon_trips.agents.itinerary.questions import asked
from gnomon_trips.itinerary.objective import fame_of
from gnomon_trips.itinerary.selection import by_importance, narrowed, room_of
from gnomon_trips.itinerary.trip import Trip

SELECT = "SELECT:"
FORM = """\
There is room for `room` of these places. Choose the most important ones for this traveller: `must_see` first,
then what is asked for, then the best known (`fame`, 0 to 1). Answer with one JSON object:
{"places": [NAME, ...]}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The names of the places to visit, those that were cut, and how it was decided."""

    names: list[str]
    cut: list[str]
    word: str


async def select(context: AgentContext, trip: Trip) -> Selected | None:
    """The model's choice among the places; None where there is room for all of them.

    Raises:
        ProviderFault, ModelFault: as the model raises them.
    """
    room = room_of(trip)
    if room is None:
        return None
    names = by_importance(trip)
    listed = [name for name in trip.request.places if name in names]
    rows = [_row(trip, name) for name in listed]
    reply = await asked(context, SELECT, {"room": room, "places": rows}, FORM, key="places")
    chosen = reply.get("places") if reply else None
    wished = [name for name in chosen if name in names] if isinstance(chosen, list) else []
    kept = narrowed(trip, wished)
    left = [name for name in kept.request.places if name in names]
    cut = [name for name in names if name not in left]
    how = "by the model" if set(left) == set(wished) else _amended(wished)
    return Selected(names=left, cut=cut, word=f"{room} of {len(names)} places {how}; cut: {', '.join(cut)}")


def bound_to(context: AgentContext, names: Sequence[str] | None) -> None:
    """Bind the tools to the trip of these places alone, whatever they were bound to before."""
    trip = context.toolbox.find(Trip)
    if names is not None and trip is not None and room_of(trip) is not None:
        context.toolbox.learn(narrowed(trip, names))


def _row(trip: Trip, name: str) -> dict[str, object]:
    place = trip.named[name]
    return {
        "name": name,
        "kind": place.kind,
        "fame": round(fame_of(place), 2),
        "must_see": place.id in trip.must_see,
        "asked_for": trip.is_asked_for(place),
        "seen": [origin.words for origin in trip.origins.get(place.id, ()) if origin.basis == "seen"],
    }


def _amended(wished: Sequence[str]) -> str:
    return "by the model as far as it chose rightly, else by importance" if wished else "by importance"
