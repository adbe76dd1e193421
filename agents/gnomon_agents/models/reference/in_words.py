"""Lets the reference model call tools in text or code, where they are described in words.

A request of the agents `text-react` and `code` holds no schemas. It is read as one that does, with the calls
made so far and their results; the reply's calls are then written as those agents take them.
"""

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.core.message import Block, Message, ToolCall, ToolChoice, ToolSchema, text_of
from gnomon.core.model import Reply, Request
from gnomon_agents import code, text_react
from gnomon_tools.core import python_source

Call = tuple[str, dict[str, Any]]
# Prints the result of each call on a line of its own, so that it can be read again.
TELL = """import json
def tell(function, arguments):
    try:
        print(json.dumps(function(**arguments)))
    except RuntimeError as error:
        print(json.dumps({"error": str(error)}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InWords:
    """A request as it would be with schemas, and the words in which its agent takes calls."""

    request: Request
    in_code: bool

    def spoken(self, reply: Reply) -> Reply:
        """The reply with its calls in those words; in text one call goes in a turn."""
        if not reply.tool_calls:
            return reply
        calls = [
            (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in reply.tool_calls
        ]
        if self.in_code:
            lines = "".join(f"tell({name}, {arguments!r})\n" for name, arguments in calls)
            said = f"```python\n{TELL}{lines}```"
        else:
            name, arguments = calls[0]
            said = f"Action: {json.dumps({'tool': name, 'arguments': arguments})}"
        return replace(reply, text=f"{reply.text}\n{said}", tool_calls=(), finish_reason="stop")


def read_in_words(request: Request) -> InWords | None:
    """What the request says in words, if it tells of tools so."""
    for index, message in enumerate(request.messages):
        for block in _texts(message):
            if block.startswith(text_react.FORBIDDEN):
                return InWords(request=_with_schemas(request, index, block, []), in_code=False)
            if block.startswith(text_react.INTRO):
                return InWords(request=_with_schemas(request, index, block, _listed(block)), in_code=False)
            if block.startswith(code.INTRO):
                tools = [] if code.FORBIDDEN in block else _declared(block)
                return InWords(
                    request=_with_schemas(request, index, block, tools, in_code=True), in_code=True
                )
    return None


def _with_schemas(
    request: Request, index: int, intro: str, tools: list[ToolSchema], *, in_code: bool = False
) -> Request:
    """The request without the words on tools, which stand in message `index`, and with calls as calls."""
    asked = request.messages[index]
    blocks: list[Block] = [{"type": "text", "text": text} for text in _texts(asked) if text != intro]
    pictures = [
        block for block in asked["content"] or () if isinstance(block, dict) and block["type"] != "text"
    ]
    messages: list[Message] = [*request.messages[:index], {"role": "user", "content": [*blocks, *pictures]}]
    calls: list[Call] = []
    for number, message in enumerate(request.messages[index + 1 :]):
        if message["role"] == "assistant":
            calls = list(_calls_in_code(message) if in_code else _call_in_text(message))
            turn: Message = {"role": "assistant", "content": message["content"]}
            messages.append({**turn, "tool_calls": _as_calls(calls, number)} if calls else turn)
        elif calls:
            results = _texts(message)[1:2]  # after the word "Observation:"
            lines = results[0].splitlines() if in_code and results else results
            for place, _ in enumerate(calls):
                said = lines[place] if place < len(lines) else ""
                result: Message = {"role": "tool", "tool_call_id": f"{number - 1}_{place}", "content": said}
                messages.append(result)
    is_over = any("used up" in text for text in _texts(request.messages[-1])[1:])
    choice: ToolChoice = "none" if is_over and len(request.messages) > index + 1 else "auto"
    return replace(request, messages=messages, tools=tools, tool_choice=choice)


def _texts(message: Message) -> list[str]:
    content = message["content"]
    if isinstance(content, list):
        return [block["text"] for block in content if block["type"] == "text"]
    return [content or ""]


def _as_calls(calls: Sequence[Call], number: int) -> list[ToolCall]:
    return [
        {
            "id": f"{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(calls)
    ]


def _listed(intro: str) -> list[ToolSchema]:
    """The tools that `text-react` lists, one JSON object a line."""
    lines = [line for line in intro.splitlines() if line.startswith("{")]
    return [{"type": "function", "function": json.loads(line)} for line in lines]


def _declared(intro: str) -> list[ToolSchema]:
    """The tools that `code` declares as functions of Python."""
    start = intro.find("\ndef ")
    if start < 0:
        return []
    source = intro[start:].removesuffix(f"\n{text_react.QUESTION}")
    source = source.replace("\nCall at least one function before you answer.", "")
    return [_schema(node) for node in python_source.parse(source).body if isinstance(node, ast.FunctionDef)]


def _schema(function: ast.FunctionDef) -> ToolSchema:
    names = [argument.arg for argument in function.args.args]
    needed = names[: len(names) - len(function.args.defaults)]
    said = (ast.get_docstring(function) or "").partition("\n")[0]
    parameters = {"type": "object", "properties": {name: {} for name in names}, "required": needed}
    return {
        "type": "function",
        "function": {"name": function.name, "description": said, "parameters": parameters},
    }


def _call_in_text(message: Message) -> Iterator[Call]:
    _, call = text_react.read_action(text_of(message), 0)
    if call is not None:
        yield call["function"]["name"], json.loads(call["function"]["arguments"])


def _calls_in_code(message: Message) -> Iterator[Call]:
    block = code.BLOCK.search(text_of(message))
    for line in block[1].splitlines() if block else ():
        if line.startswith("tell("):
            name, _, rest = line.removeprefix("tell(").partition(", ")
            yield name, python_source.literal(rest.removesuffix(")"))
