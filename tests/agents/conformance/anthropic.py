"""Anthropic's Messages API, strictly: thinking goes back as it came, in its place."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agents.conformance.server import ANSWER, CALLS, TOOL, require

FIELDS = {
    *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "temperature"),
    *("top_p", "top_k", "stop_sequences", "metadata", "service_tier", "output_config", "cache_control"),
    *("stream", "context_management", "speed", "inference_geo"),
}
BLOCK_FIELDS = {
    "text": {"text", "citations", "cache_control"},
    "image": {"source", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input", "caller", "cache_control"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
}
THINKING = ("thinking", "redacted_thinking")
UNCHANGED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
STARTS = (
    "Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final "
    "`assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and "
    "`tool_result` blocks). To avoid this requirement, disable `thinking`."
)
USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 100,
    "cache_read_input_tokens": 200,
    "output_tokens": 50,
    "output_tokens_details": {"thinking_tokens": 40},
}


class AnthropicDialect:
    """With thinking on, the second turn thinks before each of its calls: without words, then redacted."""

    name, path, base = "anthropic", "/v1/messages", ""

    def __init__(self, *, is_interleaved: bool = True) -> None:
        self._is_interleaved = is_interleaved
        self.without_thinking = 0  # turns with calls that came back without: taken under adaptive thinking

    def answer(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> dict[str, Any]:
        """The next turn, once the request has been checked.

        Raises:
            Refusal: as the API refuses.
        """
        _check(path == self.path, f"no such path: {path}")
        require(headers.get("x-api-key"), 401, _error("x-api-key header is required", "authentication_error"))
        _check(headers.get("anthropic-version") == "2023-06-01", "anthropic-version: header is required")
        for name in body:
            _check(name in FIELDS, f"{name}: Extra inputs are not permitted")
        _check(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
        mode = (body.get("thinking") or {}).get("type", "disabled")
        self._check_parameters(body, mode)
        _check_marks(body)
        turns = [message for message in body["messages"] if message["role"] == "assistant"]
        for number, turn in enumerate(turns):
            self._check_turn(turn["content"], number, mode, is_last=number == len(turns) - 1)
        _check_messages(body["messages"])
        return self.message(len(turns), thinks=mode != "disabled", calls="tools" in body)

    def message(self, number: int, *, thinks: bool = True, calls: bool = True) -> dict[str, Any]:
        """The model's turn of that number."""
        content = self.content(number if calls else len(CALLS), thinks=thinks)
        is_call = content[-1]["type"] == "tool_use"
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": "tool_use" if is_call else "end_turn",
            "stop_sequence": None,
            "usage": USAGE,
        }

    def content(self, number: int, *, thinks: bool = True) -> list[dict[str, Any]]:
        """What that turn holds."""
        if number >= len(CALLS):
            blocks = [_thought(f"{number}: done"), {"type": "text", "text": ANSWER}]
        elif not number:
            text = {"type": "text", "text": "Let me see."}
            blocks = [_thought("0: where?"), text, *(_use(number, k) for k in range(CALLS[0]))]
        elif self._is_interleaved:
            redacted = {"type": "redacted_thinking", "data": f"sealed-{number}"}
            blocks = [_thought(""), _use(number, 0), redacted, _thought(f"{number}: again"), _use(number, 1)]
        else:
            blocks = [_thought(""), *(_use(number, k) for k in range(CALLS[number]))]
        return [block for block in blocks if thinks or block["type"] not in THINKING]

    def _check_parameters(self, body: dict[str, Any], mode: str) -> None:
        forced = (body.get("tool_choice") or {"type": "auto"})["type"] in ("any", "tool")
        if mode == "enabled":
            budget = body["thinking"].get("budget_tokens")
            _check(isinstance(budget, int), "thinking.enabled.budget_tokens: Field required")
            _check(
                body["max_tokens"] > budget,
                "`max_tokens` must be greater than `thinking.budget_tokens`.",
            )
            _check(not forced, "Thinking may not be enabled when tool_choice forces tool use.")
        if mode != "disabled":
            _check(
                body.get("temperature", 1) == 1,
                "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
            )
        _check(
            not {"temperature", "top_p"} <= body.keys(),
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        )
        for number, tool in enumerate(body.get("tools", ())):
            for name in tool:
                known = {"name", "description", "input_schema", "cache_control", "strict", "type"}
                _check(name in known, f"tools.{number}.custom.{name}: Extra inputs are not permitted")
            schema = tool.get("input_schema", {})
            _check(schema.get("type") == "object", f"tools.{number}.custom.input_schema: Field required")
        _check("tools" in body or "tool_choice" not in body, "tool_choice may only be specified with tools")

    def _check_turn(self, content: Any, number: int, mode: str, *, is_last: bool) -> None:
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        at = f"messages.{2 * number + 1}.content"
        genuine = self.content(number)
        for place, block in enumerate(blocks):
            if block["type"] in THINKING:
                said = {name: value for name, value in block.items() if name != "cache_control"}
                _check(said in _thoughts(genuine), f"{at}.{place}: Invalid `signature` in `thinking` block")
        calls = any(block["type"] == "tool_use" for block in blocks)
        if not calls or mode == "disabled":
            return
        if not any(block["type"] in THINKING for block in blocks):
            found = blocks[0]["type"]
            _check(mode == "adaptive", f"{at}.0.type: {STARTS.format(found=found)}")
            self.without_thinking += 1
            return
        _check(not is_last or _order(blocks) == _order(genuine), f"{at}: {UNCHANGED}")


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    _check(messages, "messages: at least one message is required")
    _check(messages[0]["role"] == "user", "messages: first message must use the user role")
    due: list[str] = []
    for number, message in enumerate(messages):
        _check(message["role"] in ("user", "assistant"), f'messages: Unexpected role "{message["role"]}".')
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        _check(blocks, f"messages.{number}: all messages must have non-empty content")
        for place, block in enumerate(blocks):
            _check_block(block, f"messages.{number}.content.{place}")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        lacking = ", ".join(name for name in due if name not in results)
        _check(
            not lacking,
            f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {lacking}.",
        )
        for name in results:
            _check(
                name in due and results.count(name) == 1,
                f"messages.{number}.content: unexpected `tool_use_id` found in `tool_result` blocks: {name}.",
            )
        kinds = [block["type"] == "tool_result" for block in blocks]
        _check(kinds == sorted(kinds, reverse=True), f"messages.{number}: `tool_result` blocks come first")
        due = [block["id"] for block in blocks if block["type"] == "tool_use"]
    _check(not due, f"messages.{len(messages) - 1}: `tool_use` ids without `tool_result` blocks: {due}")


def _check_block(block: Mapping[str, Any], at: str) -> None:
    kind = block["type"]
    _check(kind in BLOCK_FIELDS, f"{at}: Input tag '{kind}' found using 'type' does not match any tag")
    for name in block:
        if name not in ("type", *BLOCK_FIELDS[kind]):
            _check(False, f"{at}.{kind}.{name}: Extra inputs are not permitted")
    if kind == "text":
        _check(block["text"].strip(), f"{at}: text content blocks must contain non-whitespace text")
    if kind == "tool_use":
        _check(isinstance(block["input"], dict), f"{at}.tool_use.input: Input should be an object")
    if kind == "image":
        source = block["source"]
        _check(source["type"] == "base64", f"{at}.image.source: not base64")
        head = base64.b64decode(source["data"], validate=True)[:4]
        _check(head in (b"\x89PNG", b"\xff\xd8\xff\xe0"), f"{at}: Could not process image")
    if kind == "tool_result" and isinstance(block["content"], list):
        for place, part in enumerate(block["content"]):
            _check(part["type"] in ("text", "image"), f"{at}.content.{place}: not of a tool's result")
            _check_block(part, f"{at}.content.{place}")


def _check_marks(body: Mapping[str, Any]) -> None:
    count = str(body).count("'cache_control': {'type': 'ephemeral'}")
    _check(count <= 4, f"A maximum of 4 blocks with cache_control may be provided. Found {count}.")


def _order(blocks: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Thinking and calls in their order, whatever ids the calls go by."""
    return [
        (block["type"], str(block.get("signature") or block.get("data") or ""))
        for block in blocks
        if block["type"] in (*THINKING, "tool_use")
    ]


def _thoughts(blocks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [block for block in blocks if block["type"] in THINKING]


def _thought(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": f"signed<{words}>"}


def _use(number: int, k: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}{k}", "name": TOOL, "input": {}}


def _error(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _check(holds: object, message: str) -> None:
    require(holds, 400, _error(message))
