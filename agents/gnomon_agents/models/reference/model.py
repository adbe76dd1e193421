"""The reference model: reads the question, asks tools as its solver needs, answers in JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from gnomon.core.errors import SpecError
from gnomon.core.message import Message, ToolCall
from gnomon.core.model import Reply, Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.answer import Answer, guess
from gnomon_agents.models.reference.constants import SHIPPED, Constants
from gnomon_agents.models.reference.forecasting import next_camera, next_two
from gnomon_agents.models.reference.in_words import read_in_words
from gnomon_agents.models.reference.interpolation import moved, passed_camera, passing_time
from gnomon_agents.models.reference.meeting import meeting
from gnomon_agents.models.reference.order import ordered
from gnomon_agents.models.reference.question import Clip, Kind, Question, read_question
from gnomon_agents.models.reference.scene_questions import answer_scene_question, read_scene_question
from gnomon_agents.models.reference.solver import SOLVERS
from gnomon_agents.models.reference.tool_names import in_own_names, in_shown_names, known_names
from gnomon_agents.models.reference.tool_results import Call, Evidence, Need, read_evidence

BY_KIND: Mapping[Kind, Callable[[Question, Evidence], Answer]] = {
    Kind.PASSED_CAMERA: passed_camera,
    Kind.PASSING_TIME: passing_time,
    Kind.MOTION: moved,
    Kind.ORDER: ordered,
    Kind.NEXT_CAMERA: next_camera,
    Kind.NEXT_TWO: next_two,
    Kind.MEETING: meeting,
}


class ReferenceModel:
    """A deterministic policy behind the Model seam.

    It gets what any model gets, and keeps no state: each reply is derived anew from the conversation.
    Without tools it guesses from the text. It costs nothing and counts no tokens.
    """

    def __init__(
        self, spec: ModelSpec, constants: Constants = SHIPPED, *, media: MediaStore | None = None
    ) -> None:
        """`media` holds the pictures of prompts; without it they are not looked at.

        Raises:
        SpecError: the spec sets options; this model has none.
        """
        if spec.options:
            name = next(iter(spec.options))
            raise SpecError("the reference model takes no options", field=f"options.{name}")
        self.id, self._constants, self._media = spec.id, constants, media
        self._solvers = tuple(SOLVERS)

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
                return _asking(solver.answer, request)
        scene_question = read_scene_question(request.messages)
        if scene_question is not None:
            return _asking(partial(answer_scene_question, scene_question), request)
        question = read_question(request.messages, partial(self._seen, request))
        turn = sum(message["role"] == "assistant" for message in request.messages)
        if not request.tools and turn == 0:
            return Reply(text=guess(question, "I have no tools to measure with.").text(), usd=0.0)
        try:
            answer = solve(question, read_evidence(request, self._constants))
        except Need as need:
            calls = tuple(_tool_call(call, f"call_{turn}_{i}") for i, call in enumerate(need.calls))
            return Reply(text=need.why, tool_calls=calls, finish_reason="tool_calls", usd=0.0)
        if request.tool_choice == "required" and request.tools:
            return _call_of_duty(request, f"call_{turn}_0")
        return Reply(text=answer.text(), usd=0.0)

    def _seen(self, request: Request) -> Sequence[Clip]:
        """What pictures show of clips."""
        if self._media is None or not any(map(_has_pictures, request.messages)):
            return ()
        from gnomon_agents.models.reference.eye import seen_clips  # late: most jobs show no pictures

        return seen_clips(request.messages, self._media)

    async def close(self) -> None:
        return None


def solve(question: Question, evidence: Evidence) -> Answer:
    """The answer as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    solver = BY_KIND.get(question.kind)
    if solver is None or not question.options:
        return guess(question, "I know no way to work this out.")
    try:
        return solver(question, evidence)
    except (LookupError, ArithmeticError):  # such as results about other clips than the question's
        return guess(question, "What the tools say does not fit the question.")


def _has_pictures(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "image" for block in content)


def _asking(solve_request: Callable[[Request], str], request: Request) -> Reply:
    """The solver's reply, or the calls that it needs first."""
    turn = sum(message["role"] == "assistant" for message in request.messages)
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
