"""Writes questions and reads answers by Gnomon's plain contract with an agent: JSON, over HTTP or stdio.

docs/outside-agents.md has both as JSON schemas. What an agent sends is data: bounded, never trusted. An
answer of the wrong shape is a fault of the agent's; a step of an unknown form is kept as a note.
"""

import json
from collections.abc import Mapping
from typing import Any

from gnomon.core.errors import AgentFault
from gnomon.core.message import Block
from gnomon.core.row import MAX_USD
from gnomon.core.trace import Account, ReplyStep, Step, ToolStep
from gnomon_agents.models.chat_format import MAX_REPLY_CHARS, sanitize
from gnomon_agents.models.reply_bounds import CUT
from gnomon_outside.question import AgentReply, Question, base64_text, bytes_of
from gnomon_outside.told_steps import TOKEN_NAMES, read_steps, token_count

VERSION = "gnomon-agent/1"


def written(question: Question) -> dict[str, Any]:
    """A question as the contract has it.

    Raises:
        DataError: a picture is not in the store, or they are too large.
    """
    data = bytes_of(question)
    places = {sha256: at for at, sha256 in enumerate(data)}
    blocks = {
        block["sha256"]: block
        for message in question.messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] != "text"
    }
    return {
        "version": VERSION,
        "sample_id": question.sample_id,
        "model": question.model_id,
        "seed": question.seed,
        "messages": [
            {"role": message["role"], "content": _content(message["content"], places)}
            for message in question.messages
        ],
        "tools": list(question.tools),
        "media": [
            {
                "type": blocks[sha256]["type"],
                "media_type": blocks[sha256]["media_type"],
                "sha256": sha256,
                "data": base64_text(content),
            }
            for sha256, content in data.items()
        ],
        "limits": dict(question.limits),
        "mcp": question.tool_server.as_json() if question.tool_server else None,
    }


def _content(content: str | list[Block] | None, places: Mapping[str, int]) -> str | list[dict[str, Any]]:
    """The text of a message; a list of texts and places in `media` where it has pictures."""
    if not isinstance(content, list):
        return sanitize(content or "")
    if all(block["type"] == "text" for block in content):
        return sanitize("\n".join(block["text"] for block in content if block["type"] == "text"))
    return [
        {"type": "text", "text": sanitize(block["text"])}
        if block["type"] == "text"
        else {"type": block["type"], "media": places[block["sha256"]]}
        for block in content
    ]


def read_answer(answer: Any, question: Question) -> AgentReply:
    """The reply that an answer by the contract stands for.

    Raises:
        AgentFault: `bad_shape`: it is not of that form; `failed`: it says that the agent failed.
    """
    if not isinstance(answer, dict):
        raise AgentFault(f"the answer is {_noun(answer)}, not an object", cause="bad_shape")
    if answer.get("answer") is None and answer.get("error"):
        raise AgentFault(sanitize(str(answer["error"])), cause="failed")
    if "answer" not in answer:
        names = ", ".join(sorted(map(str, answer))[:8]) or "nothing"
        raise AgentFault(f"the answer has no field `answer`; it has {names}", cause="bad_shape")
    text = answer["answer"]
    if isinstance(text, bool) or not isinstance(text, str | int | float | None):
        raise AgentFault(f"answer is {_noun(text)}, not a text", cause="bad_shape")
    steps = answer.get("steps")
    if steps is not None and not isinstance(steps, list):
        raise AgentFault(f"steps is {_noun(steps)}, not a list", cause="bad_shape")
    usage = answer.get("usage")
    if usage is not None and not isinstance(usage, dict):
        raise AgentFault(f"usage is {_noun(usage)}, not an object", cause="bad_shape")
    return reply_of("" if text is None else str(text), steps, usage, question)


def reply_of(
    text: str, told: list[Any] | None, usage: Mapping[str, Any] | None, question: Question
) -> AgentReply:
    """A reply with what an agent tells of its steps and of what it used; None: it does not tell."""
    own = {schema["function"]["name"] for schema in question.tools} if question.tool_server else set()
    steps = read_steps(told or (), but_tools=own)
    cut = len(text) > MAX_REPLY_CHARS
    account = account_of(usage or {}, steps=steps, tells_steps=told is not None, hands=bool(own))
    return AgentReply(
        text=sanitize(text),
        steps=steps,
        account=account,
        flags=(CUT,) if cut else (),
        prompt_tokens=account.prompt_tokens,
        completion_tokens=account.completion_tokens,
        cached_tokens=account.cached_tokens,
        reasoning_tokens=account.reasoning_tokens,
        usd=account.usd,
    )


def account_of(
    usage: Mapping[str, Any], *, steps: tuple[Step, ...], tells_steps: bool, hands: bool
) -> Account:
    """What an agent used, as far as it tells: by its totals, else by its steps. `hands`: it was handed tools,
    whose calls are counted here.
    """
    totals = {name: token_count(usage, name) for name in TOKEN_NAMES}
    replies = [step for step in steps if isinstance(step, ReplyStep)]
    if totals["model_calls"] is None and replies:
        totals["model_calls"] = len(replies)
    for name in ("prompt_tokens", "completion_tokens"):
        counts = [getattr(step, name) for step in replies]
        if totals[name] is None and counts and None not in counts:
            totals[name] = sum(counts)
    usd = _dollars(usage.get("usd", usage.get("cost_usd")))
    tells_calls = hands or tells_steps or any(isinstance(step, ToolStep) for step in steps)
    return Account(tells_calls=tells_calls, usd=usd, **totals)


def _dollars(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_USD:
        return None
    return float(value)


def _noun(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def parsed_answer(text: str, question: Question) -> AgentReply:
    """The reply in a text that is JSON, or whose last line is: programs print other lines before.

    Raises:
        AgentFault: `bad_json`: it is none; and as `read_answer`.
    """
    lines = text.strip().splitlines()
    for candidate in (text, lines[-1] if lines else ""):
        try:
            answer = json.loads(candidate, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
        return read_answer(answer, question)
    shown = " ".join(text.split())[:200]
    raise AgentFault(
        f"the answer is no JSON: {shown!r}" if shown else "the answer is empty", cause="bad_json"
    )
