"""Reads chat lines, one conversation with its score per line, as rows and traces."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gnomon.core.clusters import read_cluster
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.conversation import step_of, wish_of
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.json_lines import LenientModel, checked, lines
from gnomon.exchange.row_file import tools_used
from gnomon_formats.reply_states import state_of


class Function(LenientModel):
    """What a call names."""

    name: str
    arguments: str = ""


class Call(LenientModel):
    """A call of a tool."""

    id: str | None = None
    function: Function


class ChatMessage(LenientModel):
    """A message in the shape of OpenAI's."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None


class ChatLine(LenientModel):
    """A conversation, and whose it is; without a score it is missing."""

    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    sample_id: Annotated[str, Field(min_length=1)] | None = None
    model: Annotated[str, Field(min_length=1)] = "model"
    arm: Annotated[str, Field(min_length=1, max_length=80)] = "chat"
    repeat: Annotated[int, Field(ge=0)] = 0
    benchmark: str = "chat"
    task: str = "chat"
    cell: str = ""
    cluster: Annotated[str, BeforeValidator(read_cluster)] = ""
    score: Annotated[float, Field(ge=0, le=1)] | None = None


def read_chats(path: Path, reading: Reading) -> Iterator[Ended]:
    """A trial for each line; one without `sample_id` is named by its line.

    What stands before the first message of the assistant is the prompt; what people say later is a note.

    Raises:
        SpecError: a line is no conversation; names the line and the field.
    """
    for number, value in lines(path):
        line = checked(ChatLine, value, where=f"line {number}")
        trace = _trace(line.messages)
        tools = [step for step in trace["steps"] if step["kind"] == "tool"]
        row = Row(
            job_id="",
            trial_id="",
            benchmark=line.benchmark,
            task=line.task,
            cell=line.cell or line.task,
            sample_id=line.sample_id or f"line {number}",
            cluster=line.cluster,
            model=line.model,
            arm=reading.arm or line.arm,
            repeat=line.repeat,
            outcome=Outcome.INFRA_MISSING if line.score is None else Outcome.SCORED,
            stop_reason="chat:unscored" if line.score is None else "answered",
            score=line.score,
            answer=trace["response"],
            model_calls=len(trace["steps"]) - len(tools),
            tool_calls=len(tools),
            tools_used=tools_used(tools),
            reply_state=state_of(trace["steps"], score=line.score, answer=None),
        )
        reading.check_own(row)
        yield row, trace


def _trace(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    first = next((at for at, each in enumerate(messages) if each.role == "assistant"), len(messages))
    calls: dict[str, Call] = {}
    steps = []
    for message in messages[first:]:
        wishes = message.tool_calls or []
        calls |= {call.id or "": call for call in wishes}
        if message.role == "assistant":
            asked = [wish_of(call.id or "", call.function.name, call.function.arguments) for call in wishes]
            said = {"text": _text(message.content), "reasoning": message.reasoning_content or ""}
            steps.append(step_of("reply", {**said, "tool_calls": asked}))
        elif message.role == "tool":
            call = calls.get(message.tool_call_id or "")
            shown = {
                "name": call.function.name if call else "?",
                "arguments": call.function.arguments if call else "",
                "observation": _text(message.content),
                "error": None,
            }
            steps.append(step_of("tool", shown))
        else:
            steps.append(step_of("note", {"text": f"{message.role}: {_text(message.content)}"}))
    replies = [step["text"] for step in steps if step["kind"] == "reply"]
    return {
        "prompt": [_asked(message) for message in messages[:first]],
        "steps": steps,
        "response": replies[-1] if replies else None,
    }


def _asked(message: ChatMessage) -> dict[str, Any]:
    role = "system" if message.role == "developer" else message.role
    if not isinstance(message.content, list):
        return {"role": role, "content": message.content or ""}
    return {"role": role, "content": [_block(block) for block in message.content]}


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block as a trace has it; other content than text and our hashes by its kind."""
    if block.get("type") == "text":
        return {"type": "text", "text": str(block.get("text") or "")}
    if block.get("type") in ("image", "video") and isinstance(block.get("sha256"), str):
        return {name: block[name] for name in ("type", "sha256", "media_type", "seconds") if name in block}
    return {"type": "text", "text": f"<{block.get('type')}>"}


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    return "\n".join(str(block.get("text") or "") for block in content if block.get("type") == "text")
