"""Code as action: the model writes Python in which the tools are functions, and sees what the code prints.

The model writes a block of Python (CodeAct, Wang et al. 2024) in which the arm's tools are functions, and is
told what it printed ([code as action](code-as-action.md)). Names stay from block to block. A reply without a
block, or `final_answer(value)` in one, is the answer; so is a block that holds a JSON object alone.

- **Each call in the code is a call of a tool**: recorded, counted and limited like any other, also in loops.
  A call that fails, or that is one too many, raises a `RuntimeError` which the code may catch.
- **Only the first block of a reply runs.** What a reply says after it (results it makes up) is cut off.
- **Without tools it is Python alone**: the control for what a calculator is worth.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.message import Block, Message, ToolCall, before_question
from gnomon.core.trace import NoteStep
from gnomon.core.words import CALL_NAMED, CALL_SHOWN, TOOLS_FIRST
from gnomon_agents.code_runtime.interpreter import CallFailed, Interpreter, Run, WrongCall
from gnomon_agents.code_runtime.stubs import function_names, needed_names, parameter_names, stub
from gnomon_agents.core.messages import as_observation, with_user_turn
from gnomon_agents.core.tool_turn import LAST_TURN, run_noted
from gnomon_agents.text_react import QUESTION
from gnomon_tools.core.json_text import json_value

BLOCK = re.compile(
    r"^[ \t]*```[ \t]*(?:python3?|py)[ \t]*\r?\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
INTRO = "You may run Python. To do so, end your reply with one block such as this:"
RUNS = """You will be told what it prints, the value of its last line, and its error if it fails; names \
stay from block to block. There are `math`, `json`, `re`, `datetime`, `itertools`, `collections` and the \
like, no files and no network; `yield`, `del` and subclasses are not there. A reply without such a block is \
your answer; so is `final_answer(value)` in the code."""
# A small model copies the example, whatever it is: where there are functions, it calls one.
PLAIN_EXAMPLE = "print(6 * 7)"
REMINDER = "To run Python first, end your reply with a ```python block instead."
# Asked to run Python, a small model writes the functions anew, from their docstrings.
CALL_REMINDER = "To call a function first, end your reply with a ```python block that calls it instead."
TOOLS = """These functions are there already, to be called by position or by name. Each returns a dict, or \
raises a RuntimeError that says what is wrong; up to {most} calls in all:"""
FORBIDDEN = "These functions exist; none of them may be called for this question, and none is there:"
USED_UP = "All calls of functions are used up."
ANSWER = "Answer in the form that the question asks for."
CUT = "Your reply was cut before its block ended, so nothing of it ran. Write a shorter block."
SAME = "This block ran before and came to the same. Change it, or answer."
REPEATED = "Calls that were made before, to the letter, gave the same results again. Use them to answer."
MAX_ARGUMENTS = 100_000  # characters of one call's arguments
RAN = "Python ran"  # how the note of a block begins


class _Code:
    """Asks the model, runs its block, shows what came of it, repeats."""

    name = "code"
    uses_tools = True
    calls_in_words = True
    description = "The model writes Python in which the tools are functions, and sees what the code prints."

    def model_calls(self, arm: Arm) -> tuple[int, int]:
        return 1, arm.max_turns

    async def answer(self, context: AgentContext) -> str:
        tools = _Tools(context)
        interpreter = Interpreter(tools.names, tools.call, seed=context.seed)
        try:
            return await _loop(context, interpreter, tools)
        finally:
            await interpreter.close()


async def _loop(context: AgentContext, interpreter: Interpreter, tools: "_Tools") -> str:
    is_first, introduction = context.words >= TOOLS_FIRST, tools.introduction()
    if is_first:
        asked = before_question(context.prompt, f"{introduction}\n{QUESTION}")
        messages = with_user_turn(asked, tools.reminder())
    else:
        messages = with_user_turn(context.prompt, introduction)
    says_why, came_to = context.words >= CALL_NAMED, ("", "")
    while True:
        reply = await context.generate(messages, tool_choice="none", offer_tools=False)
        block = BLOCK.search(reply.text)
        if block is None:
            return reply.text
        if isinstance(json_value(block[1]), dict):  # the answer as the question asks for it, and no code
            return block[1].strip()
        was_cut = reply.finish_reason == "length" and not block[0].rstrip().endswith("```")
        run = Run(error=CUT) if says_why and was_cut else await interpreter.run(block[1])
        observation = _observation(run)
        came_before, came_to = came_to, (block[1], observation)
        if says_why and came_to == came_before:
            observation += f"\n{SAME}"
        context.trace.add(NoteStep(text=_note(run, observation, interpreter)))
        if run.final is not None:
            return run.final
        # A turn that was cut goes back as bare text: what its provider hung on it belongs to the whole.
        text = reply.text[: block.end()]
        turn: Message = {"role": "assistant", "content": text}
        whole = reply.message(calls=[]) if text == reply.text else turn
        messages = with_user_turn([*messages, whole], [*as_observation(observation), *tools.pictures()])
        if is_first and tools.has_repeated():
            messages = with_user_turn(messages, REPEATED)
        if is_first and context.turns_left == 1:
            messages = with_user_turn(messages, LAST_TURN)
        elif tools.names and context.tool_calls_left <= 0:
            messages = with_user_turn(messages, f"{USED_UP} {ANSWER}" if is_first else USED_UP)


class _Tools:
    """The trial's tools as functions of Python."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._schemas = context.toolbox.schemas if context.may_call_tools else []
        self.names = function_names(self._schemas)
        self._parameters = dict(zip(self.names, map(parameter_names, self._schemas), strict=True))
        self._pictures: list[Block] = []
        self._is_repeated = False

    def introduction(self) -> str:
        """What the model is told of Python and of its functions."""
        schemas = self._context.toolbox.schemas
        intro = f"{INTRO}\n```python\n{self._example()}\n```\n{RUNS}"
        if not schemas or not (self.names or self._context.words >= TOOLS_FIRST):
            return intro
        listed = "\n\n".join(stub(*each) for each in zip(function_names(schemas), schemas, strict=True))
        if not self.names:
            return "\n".join([intro, FORBIDDEN, listed])
        required = self._context.arm.tool_choice == "required"
        first = ["Call at least one function before you answer."] if required else []
        return "\n".join([intro, TOOLS.format(most=self._context.tool_calls_left), listed, *first])

    def reminder(self) -> str:
        """The last line of the prompt, behind the question."""
        return CALL_REMINDER if self.names and self._context.words >= CALL_NAMED else REMINDER

    def _example(self) -> str:
        if not self.names or self._context.words < CALL_SHOWN:
            return PLAIN_EXAMPLE
        name, schema = next(zip(self.names, self._schemas, strict=True))
        needed = needed_names(schema) if self._context.words >= CALL_NAMED else []
        arguments = ", ".join(f"{parameter}=..." for parameter in needed) or "..."
        return f"print({name}({arguments}))"

    async def call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run a call that the code makes, as a call of the trial's; its result as plain values.

        Raises:
            CallFailed: the call failed, or was one too many.
            WrongCall: no function takes such arguments.
        """
        arguments = json.dumps(self._by_name(name, args, kwargs), ensure_ascii=False, default=_plain)
        if len(arguments) > MAX_ARGUMENTS:
            raise WrongCall(f"{name}() takes arguments of at most {MAX_ARGUMENTS:,} characters as JSON")
        call: ToolCall = {
            "id": f"python_{len(self._context.trace.tool_steps)}",
            "type": "function",
            "function": {"name": self.names[name], "arguments": arguments},
        }
        before = len(self._context.trace.tool_steps)
        message, is_same = await run_noted(self._context, call)
        content, self._is_repeated = message["content"], self._is_repeated or is_same
        step = self._context.trace.tool_steps[-1] if len(self._context.trace.tool_steps) > before else None
        if isinstance(content, list):
            self._pictures += [block for block in content if block["type"] == "image"]
            content = "".join(block["text"] for block in content if block["type"] == "text")
        # a tool of a server may return plain text
        result = json_value(content or "null", otherwise=content)
        if step is None or step.error:
            raise CallFailed(str(result.get("error", content) if isinstance(result, dict) else content))
        return result

    def _by_name(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        parameters = self._parameters[name]
        if len(args) > len(parameters):
            raise WrongCall(
                f"{name}() takes {len(parameters)} positional arguments but {len(args)} were given"
            )
        by_position = dict(zip(parameters, args, strict=False))
        if twice := by_position.keys() & kwargs.keys():
            raise WrongCall(f"{name}() got multiple values for argument {min(twice)!r}")
        return {**by_position, **kwargs}

    def has_repeated(self) -> bool:
        """Whether a call since the last time repeated an earlier one and its result."""
        is_repeated, self._is_repeated = self._is_repeated, False
        return is_repeated

    def pictures(self) -> list[Block]:
        """The pictures that tools gave since the last time; the code has no eyes for them, the model has."""
        pictures, self._pictures = self._pictures, []
        return pictures


def _plain(value: object) -> Any:
    """A value of Python that JSON has none for, as a tool is likely to take it."""
    return list(value) if isinstance(value, set | frozenset) else str(value)


def _observation(run: Run) -> str:
    r"""What a block came to, as the model reads it.

    >>> _observation(Run(printed="a\n", value="3"))
    'a\nValue: 3'
    >>> _observation(Run())
    '(nothing was printed, and the last line has no value)'
    """
    parts = [run.printed.rstrip("\n"), f"Value: {run.value}" if run.value else "", run.error]
    if run.is_anew:
        parts.append("Python was started anew: all names are gone.")
    return (
        "\n".join(part for part in parts if part) or "(nothing was printed, and the last line has no value)"
    )


def _note(run: Run, observation: str, interpreter: Interpreter) -> str:
    """What the trace keeps of a block beside the calls it made."""
    ended = f"final_answer: {run.final}" if run.final is not None else observation
    walls = "" if interpreter.is_confined else " (its process is not confined by the kernel here)"
    return f"{RAN}{walls}: {ended}"


code = _Code()
