"""Reads a query for a trip in TravelPlanner's form, and what tools have said of it."""

from collections.abc import Sequence

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import Call, Need, Result, answers_in, offered_in, texts_of

OPENINGS = ("What counts as a plan:", "You plan trips.")


def is_travel_query(messages: Sequence[Message]) -> bool:
    """Whether the messages ask for a trip in TravelPlanner's form."""
    return any(text.startswith(OPENINGS) for text in texts_of(messages))


class TravelEvidence:
    """The results of the conversation's calls, and the tools that may be called."""

    def __init__(self, request: Request) -> None:
        self.offered = frozenset(offered_in(request))
        self._answers = answers_in(request.messages)

    def ask(self, calls: Sequence[Call], why: str) -> list[Result | None]:
        """The result of each call, None where it failed or cannot be made.

        Raises:
            Need: some are still to be made.
        """
        fresh = [call for call in calls if call.key not in self._answers and call.tool in self.offered]
        if fresh:
            raise Need(fresh, why)
        return [self._answers.get(call.key) for call in calls]
