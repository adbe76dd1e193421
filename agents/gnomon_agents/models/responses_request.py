"""Writes a request to OpenAI's Responses API: nothing is stored there, so every item goes back."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gnomon.core.compact_json import dump
from gnomon.core.decoding import Decoding
from gnomon.core.message import Block, Message, ToolCall, ToolSchema
from gnomon.core.model import Request, memoize_by_tools
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.chat_turn import TurnRules
from gnomon_agents.models.endpoint import Endpoint
from gnomon_agents.models.image_urls import PICTURES
from gnomon_agents.models.json_pieces import Piece, Written, pieces_of, quoted
from gnomon_agents.models.kept_calls import kept_calls

DIALECT: Final = "responses"
ENDPOINT = Endpoint(
    address="https://api.openai.com/v1",
    path=("responses",),
    key_variable="OPENAI_API_KEY",
    reserved=frozenset({"model", "input", "instructions", "tools", "tool_choice", "stream", "background"})
    | {"previous_response_id", "conversation", "prompt"},
)
OPTIONS = frozenset(  # of the spec, in this API's own words; any other is LiteLLM's affair
    {
        *(
            "reasoning",
            "text",
            "max_output_tokens",
            "temperature",
            "top_p",
            "service_tier",
            "include",
            "store",
        ),
        *("truncation", "metadata", "parallel_tool_calls", "prompt_cache_key", "safety_identifier", "user"),
    }
)
# "Encrypted content is not supported with this model.": OpenAI's models that do not reason.
_DOES_NOT_REASON = re.compile(r"(ft:)?gpt-[34]|chatgpt|gpt-5(\.\d)?-chat")
Item = dict[str, Any]


class ResponsesRequest:
    """Bodies of one model's calls."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        self._spec, self._media = spec, media
        name = (spec.id.partition("/")[2] or spec.id).removeprefix("responses/")
        options = {name: value for name, value in spec.options.items() if name not in Decoding.model_fields}
        include = [] if _DOES_NOT_REASON.match(name) else ["reasoning.encrypted_content"]
        self._fields = {"model": name, "store": False, "include": include, **options}
        self._tools, self._turns = memoize_by_tools(_written_tools), TurnRules(history=spec.reasoning_history)

    def pieces(self, request: Request) -> tuple[list[Piece], tuple[str, ...]]:
        """The body and what of the request was changed.

        Raises:
            DataError: a picture is not in the store.
        """
        drawn = wire.sampling_params(self._spec, request.decoding)
        changes = wire.absent(self._spec, request.decoding, drawn)
        if "max_tokens" in drawn:
            drawn["max_output_tokens"] = drawn.pop("max_tokens")
        body = {**self._fields, **drawn}
        if request.tools:
            body |= {"tools": self._tools(request.tools), "tool_choice": request.tool_choice}
        messages = self._turns.chosen(request.messages)
        whole = {
            place: self._whole(conversation)
            for place, conversation in enumerate(messages)
            if _is_ours(conversation)
        }
        if count := sum(items is None for items in whole.values()):
            changes += (f"reasoning: left out of {count} of {len(whole)} turns",)
        conversation = [
            self._items(message) if (items := whole.get(place)) is None else items
            for place, message in enumerate(messages)
        ]
        return pieces_of({**body, "input": [item for items in conversation for item in items]}), changes

    def _whole(self, message: Message) -> list[Item] | None:
        """A turn of the model as it came; None where nobody could read it again: nothing is stored, and of
        reasoning only an id came.
        """
        items = as_it_came(message["provider_turn"]["body"], _calls(message))
        return items if self._fields["store"] or all(map(_stands_alone, items)) else None

    def headers(self, key: str) -> dict[str, str]:
        """The key."""
        return {"Authorization": f"Bearer {key}"}

    def _items(self, message: Message) -> list[Item]:
        content = message["content"]
        if message["role"] == "tool":
            result = wire.sanitize(content or "") if not isinstance(content, list) else self._parts(content)
            return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": result}]
        if message["role"] != "assistant":
            return [{"role": message["role"], "content": self._parts(content)}]
        text_items = (
            [{"role": "assistant", "content": wire.sanitize(content)}] if isinstance(content, str) else []
        )
        return [*text_items, *map(_call, _calls(message))]

    def _parts(self, content: str | list[Block] | None) -> list[Item]:
        if not isinstance(content, list):
            content = [{"type": "text", "text": content or ""}]
        return [self._part(block) for block in content]

    def _part(self, block: Block) -> Item:
        if block["type"] == "image" and self._spec.pictures:
            url = quoted(PICTURES.url(block, self._media))
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        return {"type": "input_text", "text": wire.block_out(block, self._media, pictures=False)["text"]}


def _is_ours(message: Message) -> bool:
    turn = message.get("provider_turn")
    return turn is not None and turn["dialect"] == DIALECT


def _calls(message: Message) -> list[ToolCall]:
    return [wire.format_tool_call(call) for call in message.get("tool_calls", ())]


def as_it_came(output: Sequence[Item], calls: Sequence[ToolCall]) -> list[Item]:
    """The model's items as they came, but for calls: those that the agent kept, by the ids it gave them.
    Reasoning that nothing of its own follows any more is left out, for it would be refused.

    >>> output = [{"type": "reasoning", "id": "rs"}, {"type": "function_call", "id": "fc", "call_id": "a"}]
    >>> call = {"id": "b", "type": "function", "function": {"name": "fly", "arguments": "{}"}}
    >>> as_it_came(output, [call])[1]
    {'type': 'function_call', 'id': 'fc', 'call_id': 'b', 'arguments': '{}'}
    >>> as_it_came(output, [])
    []
    """
    call_ids = [item["call_id"] for item in output if item.get("type") == "function_call"]
    kept = iter(kept_calls(call_ids, calls))
    items: list[Item] = []
    is_after_dropped = False
    for item in output:
        kind = item.get("type")
        call = next(kept) if kind == "function_call" else None
        if kind == "function_call" and call is None:
            is_after_dropped = True
            continue
        if is_after_dropped and kind == "reasoning":
            _drop_reasoning(items)
        is_after_dropped = False
        if call is not None:
            item = {**item, "call_id": call["id"], "arguments": call["function"]["arguments"]}
        items.append(item)
    _drop_reasoning(items)
    return items


def _drop_reasoning(items: list[Item]) -> None:
    while items and items[-1].get("type") == "reasoning":
        items.pop()


def _stands_alone(item: Mapping[str, Any]) -> bool:
    """Whether an item can be read where nothing is stored: reasoning must hold itself, not just its id."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _call(call: ToolCall) -> Item:
    return {"type": "function_call", "call_id": call["id"], **call["function"]}


def _written_tools(tools: Sequence[ToolSchema]) -> Written:
    return Written(dump([_tool(tool["function"]) for tool in tools]).encode())


def _tool(function: Mapping[str, Any]) -> Item:
    """A tool in the flat shape; not strict, or the API would rewrite its schema."""
    tool = {
        "type": "function",
        "name": function["name"],
        "description": function.get("description"),
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
        "strict": bool(function.get("strict")),
    }
    return {name: value for name, value in tool.items() if value is not None}
