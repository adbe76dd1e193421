"""Writes a request to Anthropic's Messages API: content lists in their order, every model turn unchanged."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gnomon.core.compact_json import dump
from gnomon.core.message import Block as Part
from gnomon.core.message import Message, ToolCall, ToolSchema
from gnomon.core.model import Request, memoize_by_tools
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.anthropic_rules import ModelRules
from gnomon_agents.models.chat_turn import TurnRules
from gnomon_agents.models.image_urls import PICTURES
from gnomon_agents.models.json_pieces import Piece, Written, pieces_of, quoted
from gnomon_agents.models.kept_calls import kept_calls
from gnomon_agents.models.prompt_cache import MARK, marked_places

DIALECT: Final = "anthropic"
THINKING = ("thinking", "redacted_thinking")
Block = dict[str, Any]


class MessagesRequest:
    """Bodies of one model's calls."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        self._spec, self._media = spec, media
        self._rules, self._turns = ModelRules(spec), TurnRules(history=spec.reasoning_history)
        self._is_marked = spec.prompt_cache == "auto" and "cache_control" not in spec.options
        self._tools = memoize_by_tools(self._written_tools)

    def pieces(self, request: Request) -> tuple[list[Piece], tuple[str, ...]]:
        """The body and what of the request was changed.

        Raises:
            DataError: a picture is not in the store.
        """
        fields, changes = self._rules.fields(request.decoding)
        system, turns = self._conversation(request.messages)
        if self._is_marked:
            for place in marked_places(turns, offers_tools=bool(request.tools)):
                blocks = turns[place]["content"]
                blocks[-1] = {**blocks[-1], "cache_control": MARK}
            if system and request.tools:
                system[-1] = {**system[-1], "cache_control": MARK}
        body = {"model": self._rules.name, **fields}
        if system:
            body["system"] = system
        if request.tools:
            choice, changed = self._rules.tool_choice(request.tool_choice)
            body |= {"tools": self._tools(request.tools), "tool_choice": choice}
            changes += changed
        return pieces_of({**body, "messages": turns}), changes

    def headers(self, key: str) -> dict[str, str]:
        """The key, the API's version, and what is in beta."""
        return self._rules.headers(key)

    def _written_tools(self, tools: Sequence[ToolSchema]) -> Written:
        """The tools, marked at their end: they are the prefix that all samples share."""
        out = [_tool(tool["function"]) for tool in tools]
        if self._is_marked:
            out[-1]["cache_control"] = MARK
        return Written(dump(out).encode())

    def _conversation(self, messages: list[Message]) -> tuple[list[Block], list[dict[str, Any]]]:
        """The system's text, and turns of user and model in alternation: what tools said is the user's."""
        system: list[Block] = []
        turns: list[dict[str, Any]] = []
        for message in self._turns.chosen(messages):
            if message["role"] == "system":
                system += self._blocks(message["content"])
                continue
            role = "assistant" if message["role"] == "assistant" else "user"
            blocks = self._said(message)
            if turns and turns[-1]["role"] == role:
                turns[-1]["content"] += blocks
            elif blocks:
                turns.append({"role": role, "content": blocks})
        return system, turns

    def _said(self, message: Message) -> list[Block]:
        if message["role"] == "tool":
            content = message["content"]
            result = wire.sanitize(content) if isinstance(content, str) else self._blocks(content)
            return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": result}]
        if message["role"] == "user":
            return self._blocks(message["content"])
        turn = message.get("provider_turn")
        if turn is not None and turn["dialect"] == DIALECT:
            return as_it_came(turn["body"], message.get("tool_calls", []))
        return [*self._blocks(message["content"]), *map(_use, message.get("tool_calls", ()))]

    def _blocks(self, content: str | list[Part] | None) -> list[Block]:
        """Text and pictures; an empty text is left out, for it would be refused."""
        if not isinstance(content, list):
            content = [{"type": "text", "text": content or ""}]
        blocks = [self._block(block) for block in content]
        return [block for block in blocks if _is_sent(block)]

    def _block(self, block: Part) -> Block:
        if block["type"] == "image" and self._spec.pictures:
            data = quoted(PICTURES.base64(block, self._media))
            return {
                "type": "image",
                "source": {"type": "base64", "media_type": block["media_type"], "data": data},
            }
        return wire.block_out(block, self._media, pictures=False)


def as_it_came(content: Sequence[Block], calls: Sequence[ToolCall]) -> list[Block]:
    """The model's content as it came, but for calls: those that the agent kept, by the ids it gave them.
    Thinking that nothing follows any more is left out, for it would be refused.

    >>> content = [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "tool_use", "id": "a"}]
    >>> call = {"id": "b", "type": "function", "function": {"name": "fly", "arguments": "{}"}}
    >>> as_it_came(content, [call])[1], as_it_came(content, [])
    ({'type': 'tool_use', 'id': 'b'}, [])
    """
    kept = iter(kept_calls([block["id"] for block in content if block.get("type") == "tool_use"], calls))
    blocks: list[Block] = []
    for block in content:
        if block.get("type") != "tool_use":
            blocks += [block] if _is_sent(block) else []
        elif (call := next(kept)) is not None:
            blocks.append({**block, "id": call["id"]})
    while blocks and blocks[-1].get("type") in THINKING:
        blocks.pop()
    return blocks


def _is_sent(block: Mapping[str, Any]) -> bool:
    return block.get("type") != "text" or bool(block["text"].strip())


def _use(call: ToolCall) -> Block:
    function = wire.format_tool_call(call)["function"]
    return {
        "type": "tool_use",
        "id": call["id"],
        "name": function["name"],
        "input": json.loads(function["arguments"]),
    }


def _tool(function: Mapping[str, Any]) -> Block:
    tool = {
        "name": function["name"],
        "description": function.get("description"),
        "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
    }
    return {name: value for name, value in tool.items() if value is not None}
