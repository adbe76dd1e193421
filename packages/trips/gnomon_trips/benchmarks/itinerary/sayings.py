"""Lists the sentences of a traveller who changes their mind, and how each changes the request."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MARK = "The traveller writes: "
"""How a follow-up begins."""
STANDS = (
    "What was asked for before and is not changed by this still holds. Answer with the whole new plan in the"
    " same form, or refuse in the same form if no plan can keep it all."
)
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A sentence with gaps, and the fields of the request that it changes, by what stands in the gaps."""

    words: str
    changes: Callable[[Mapping[str, Any], Mapping[str, str]], Fields]

    def say(self, **gaps: object) -> str:
        return self.words.format(**gaps)

    def read(self, text: str) -> Mapping[str, str] | None:
        """What stands in the gaps of a sentence of this kind."""
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(self.words))
        match = re.search(pattern, text)
        return match.groupdict() if match else None


def _without(request: Mapping[str, Any], place: str) -> Fields:
    return {
        "places": [name for name in request.get("places", ()) if name != place],
        "order": [list(pair) for pair in request.get("order", ()) if place not in pair],
        "avoid": [*request.get("avoid", ()), place],
    }


def _swapped(request: Mapping[str, Any], gaps: Mapping[str, str]) -> Fields:
    fields = _without(request, gaps["place"])
    return {**fields, "places": [*fields["places"], gaps["other"]]}


SAYINGS: Mapping[str, Saying] = {
    "swap": Saying(words="Leave out “{place}” and see “{other}” instead.", changes=_swapped),
    "leave_out": Saying(
        words="Leave out “{place}”.", changes=lambda request, gaps: _without(request, gaps["place"])
    ),
    "add": Saying(
        words="We also want to see “{other}”.",
        changes=lambda request, gaps: {"places": [*request.get("places", ()), gaps["other"]]},
    ),
    "order": Saying(
        words="See “{first}” before “{then}”.",
        changes=lambda request, gaps: {
            "order": [*map(list, request.get("order", ())), [gaps["first"], gaps["then"]]]
        },
    ),
    "back_by": Saying(
        words="We must be back at the hotel by {end} every day.",
        changes=lambda request, gaps: {"window": {**_window(request), "end": gaps["end"]}},
    ),
    "leave_late": Saying(
        words="We cannot leave the hotel before {start}.",
        changes=lambda request, gaps: {"window": {**_window(request), "start": gaps["start"]}},
    ),
    "walk": Saying(
        words="No more than {km} km a day on foot, please.",
        changes=lambda _, gaps: {"max_walk_m": round(float(gaps["km"]) * 1000)},
    ),
    "spend": Saying(
        words="All of us together can spend {amount} {currency} at most.",
        changes=lambda _, gaps: {
            "budget": {"amount": float(gaps["amount"]), "currency": gaps["currency"].upper()}
        },
    ),
    "day_less": Saying(
        words="Actually it is one day less: the last day falls away.",
        changes=lambda request, _: {"days": int(request.get("days", 1)) - 1},
    ),
    "one_more": Saying(
        words="One more person comes along: we are {party} now.",
        changes=lambda _, gaps: {"party": int(gaps["party"])},
    ),
}
"""By kind; a sentence that begins as another does stands before it."""


def _window(request: Mapping[str, Any]) -> Fields:
    return {"start": "09:00", "end": "20:00", **(request.get("window") or {})}


def changes_in(request: Mapping[str, Any], text: str) -> Fields:
    """The fields of a request that a sentence changes; empty if the sentence is none of the known ones.

    >>> changes_in({"places": ["A", "B"]}, "Leave out “A”.")
    {'places': ['B'], 'order': [], 'avoid': ['A']}
    >>> changes_in({}, "Well, well.")
    {}
    """
    for saying in SAYINGS.values():
        gaps = saying.read(text)
        if gaps is not None:
            return saying.changes(request, gaps)
    return {}


def request_now(request: Mapping[str, Any], said: Sequence[str]) -> Fields:
    """A request after all that was said, each in its turn; texts that are no follow-ups change nothing."""
    now = dict(request)
    for text in said:
        if text.startswith(MARK):
            now |= changes_in(now, text.removeprefix(MARK).partition("\n")[0])
    return now
