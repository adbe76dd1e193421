"""Answers to calls of tools, as far as the conversation has them."""

from collections.abc import Collection, Mapping, Sequence

from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import (
    Call,
    Result,
    answers_in,
    offered_in,
    results_of,
)
from gnomon_published.solver.clips.constants import SHIPPED, Constants


class Evidence:
    """The answers to calls, by call.

    A solver is plain code that asks as it goes. Where an answer is not in the conversation yet, `ask`
    raises Need, the model calls the tool, and with the next request the solver runs again from its
    beginning, now further: so the model keeps no state.
    """

    def __init__(
        self,
        answers: Mapping[str, Result | None],
        offered: Collection[str],
        constants: Constants = SHIPPED,
    ) -> None:
        """`answers` holds None for a failed call; `offered` names the tools that may be called now;
        `constants` is what is taken for granted besides.
        """
        self._answers, self._offered, self.constants = answers, offered, constants

    def ask(self, calls: Sequence[Call], why: str) -> list[Result | None]:
        """The result of each call, None where it failed or cannot be made.

        Raises:
            Need: some are still to be made.
        """
        return results_of(calls, why, answers=self._answers, offered=self._offered)


def read_evidence(request: Request, constants: Constants = SHIPPED) -> Evidence:
    """The conversation's calls and their results, and the tools that may be called now."""
    return Evidence(answers_in(request.messages), offered_in(request), constants)
