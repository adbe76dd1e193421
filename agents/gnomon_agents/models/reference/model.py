"""The reference model: reads the question, asks tools as its solver needs, answers in JSON."""

import json
from collections.abc import Callable

from gnomon.core.errors import SpecError
from gnomon.core.message import ToolCall
from gnomon.core.model import Reply, Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.guessing import guess
from gnomon_agents.models.reference.in_words import read_in_words
from gnomon_agents.models.reference.scene_questions import scenes
from gnomon_agents.models.reference.solver import SOLVERS, Solver
from gnomon_agents.models.reference.tool_names import in_own_names, in_shown_names, known_names
from gnomon_agents.models.reference.tool_results import Call, Need


class ReferenceModel:
    """A deterministic policy behind the Model seam.

    It gets what any model gets, and keeps no state: each reply is derived anew from the conversation.
    Without tools it guesses from the text. It costs nothing and counts no tokens.
    """

    def __init__(self, spec: ModelSpec, *, media: MediaStore | None = None) -> None:
        """`media` holds the pictures of prompts; without it they are not looked at.

        Raises:
        SpecError: the spec sets options; this model has none.
        """
        if spec.options:
            name = next(iter(spec.options))
            raise SpecError("the reference model has no options; leave it out", field=f"options.{name}")
        self.id, self._media = spec.id, media
        self._solvers = sorted((*SOLVERS, scenes), key=lambda solver: solver.place)

    async def reply(self, request: Request) -> Reply:
        if words := read_in_words(request):
            return words.spoken(self._named_reply(words.request))
        return self._named_reply(request)

    def _named_reply(self, request: Request) -> Reply:
        names = known_names(request)
        if names:
            return in_shown_names(self._reply(in_own_names(request, names)), names)
        return self._reply(request)

    def _reply(self, request: Request) -> Reply:
        for solver in self._solvers:
            if solver.reads(request.messages):
                return _asking(self._answer_of(solver), request)
        if not request.tools and not _turns(request):
            return Reply(text=guess(request.messages, "I have no tools to measure with."), usd=0.0)
        return _asking(lambda asked: guess(asked.messages, "I know no way to work this out."), request)

    def _answer_of(self, solver: Solver) -> Callable[[Request], str]:
        see, media = solver.answer_seeing, self._media
        if see is None or media is None:
            return solver.answer
        return lambda request: see(request, media)

    async def close(self) -> None:
        return None


def _turns(request: Request) -> int:
    """How often the model has replied."""
    return sum(message["role"] == "assistant" for message in request.messages)


def _asking(solve_request: Callable[[Request], str], request: Request) -> Reply:
    """The solver's reply, or the calls that it needs first."""
    turn = _turns(request)
    try:
        text = solve_request(request)
    except Need as need:
        calls = tuple(_tool_call(call, f"call_{turn}_{i}") for i, call in enumerate(need.calls))
        return Reply(text=need.why, tool_calls=calls, finish_reason="tool_calls", usd=0.0)
    if request.tool_choice == "required" and request.tools:
        return _call_of_duty(request, f"call_{turn}_0")
    return Reply(text=text, usd=0.0)


def _call_of_duty(request: Request, name: str) -> Reply:
    """A call where one is required and none is needed: of a tool that takes no arguments, if there is one."""
    functions = [tool["function"] for tool in request.tools]
    free = [function for function in functions if not function["parameters"].get("required")]
    call = _tool_call(Call((free or functions)[0]["name"], {}), name)
    return Reply(text="I must call a tool.", tool_calls=(call,), finish_reason="tool_calls", usd=0.0)


def _tool_call(call: Call, name: str) -> ToolCall:
    arguments = json.dumps(call.arguments)
    return {"id": name, "type": "function", "function": {"name": call.tool, "arguments": arguments}}
