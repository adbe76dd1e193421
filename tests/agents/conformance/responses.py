"""OpenAI's Responses API with nothing stored, strictly: reasoning items go back, sealed, in place."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.agents.conformance.server import ANSWER, CALLS, TOOL, require

SEALED = "reasoning.encrypted_content"
FIELDS = {
    *("model", "input", "instructions", "tools", "tool_choice", "store", "include", "reasoning", "text"),
    *("max_output_tokens", "temperature", "top_p", "parallel_tool_calls", "metadata", "truncation", "user"),
    *("prompt_cache_key", "service_tier", "safety_identifier", "max_tool_calls"),
}
ITEM_FIELDS = {
    "message": {"role", "content", "id", "status", "phase"},
    "reasoning": {"id", "summary", "encrypted_content", "content", "status"},
    "function_call": {"id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"id", "call_id", "output", "status"},
}
INPUT, OUTPUT = ("input_text", "input_image", "input_file"), ("output_text", "refusal")
USAGE = {
    "input_tokens": 310,
    "input_tokens_details": {"cached_tokens": 200},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 40},
    "total_tokens": 360,
}


class ResponsesDialect:
    """The second turn reasons before each of its two calls."""

    name, path, base = "responses", "/v1/responses", "/v1"

    def __init__(self, *, reasons: bool = True) -> None:
        self._reasons = reasons

    def answer(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> dict[str, Any]:
        """The next turn, once the request has been checked.

        Raises:
            Refusal: as the API refuses.
        """
        _check(path == self.path, f"Unknown request URL: {path}")
        require(headers.get("authorization", "").startswith("Bearer "), 401, _error("You need a key."))
        for name in body:
            _check(name in FIELDS, f"Unknown parameter: '{name}'.", code="unknown_parameter")
        _check(body.get("store") is False, "these tests are stateless")
        self._check_parameters(body)
        for number, tool in enumerate(body.get("tools", ())):
            _check(tool.get("name"), f"Missing required parameter: 'tools[{number}].name'.")
            known = {"type", "name", "description", "parameters", "strict"}
            _check(tool.keys() <= known, f"Unknown parameter: 'tools[{number}]'.")
        for number, item in enumerate(body["input"]):
            _check_item(item, f"input[{number}]")
        self._check_reasoning(body["input"])
        _check_outputs(body["input"])
        turn = 1 + max((int(_turn(i)) for i in body["input"] if i.get("type") == "function_call"), default=-1)
        is_sealed = SEALED in body.get("include", ())
        return self.response(turn if "tools" in body else len(CALLS), is_sealed=is_sealed)

    def response(self, number: int, *, is_sealed: bool = True) -> dict[str, Any]:
        """The model's turn of that number."""
        output = self.output(number)
        if not is_sealed:
            output = [{**item, "encrypted_content": None} if "summary" in item else item for item in output]
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": "o",
            "output": output,
            "usage": USAGE,
        }

    def output(self, number: int) -> list[dict[str, Any]]:
        """What that turn holds."""
        if number >= len(CALLS):
            part = {"type": "output_text", "text": ANSWER, "annotations": []}
            items = [_thought(number, 0), _message(number, part)]
        else:
            items = [item for k in range(CALLS[number]) for item in (_thought(number, k), _call(number, k))]
        return [item for item in items if self._reasons or item["type"] != "reasoning"]

    def _check_parameters(self, body: Mapping[str, Any]) -> None:
        if self._reasons:
            for name in ("temperature", "top_p"):
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                _check(name not in body, message, code="unsupported_parameter")
        else:
            is_asked = SEALED in body.get("include", ())
            _check(not is_asked, "Encrypted content is not supported with this model.")

    def _check_reasoning(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Each thing with an id stands right behind its reasoning, and no reasoning stands alone."""
        for place, item in enumerate(items):
            name, kind = item.get("id"), item.get("type", "message")
            if kind == "reasoning":
                missing = (
                    f"Item with id '{name}' not found. Items are not persisted when `store` is set to false. "
                    "Try again with `store` set to true, or remove this item from your input."
                )
                require(item.get("encrypted_content"), 404, _error(missing))
                _check(
                    item["encrypted_content"] == _sealed(str(name)),
                    f"The encrypted content for item {name} could not be verified.",
                    code="invalid_encrypted_content",
                )
                follows = items[place + 1] if place + 1 < len(items) else {}
                _check(
                    str(follows.get("id", ""))[-2:] == str(name)[-2:],
                    f"Item '{name}' of type 'reasoning' was provided without its required following item.",
                )
            elif name and self._reasons:
                needed = f"rs_{name[-2:]}"
                before = items[place - 1] if place else {}
                _check(
                    before.get("id") == needed,
                    f"Item '{name}' of type '{kind}' was provided without its required 'reasoning' item: "
                    f"'{needed}'.",
                )


def _check_item(item: Mapping[str, Any], at: str) -> None:
    kind = item.get("type", "message")
    _check(kind in ITEM_FIELDS, f"Invalid value: '{kind}'. ({at}.type)")
    for name in item:
        _check(name in ("type", *ITEM_FIELDS[kind]), f"Unknown parameter: '{at}.{name}'.")
    if kind == "message":
        known = OUTPUT if item["role"] == "assistant" else INPUT
        _check_parts(item["content"], known, at)
    if kind == "function_call_output":
        _check_parts(item["output"], INPUT, at)


def _check_parts(content: Any, known: tuple[str, ...], at: str) -> None:
    for part in content if isinstance(content, list) else ():
        _check(
            part["type"] in known, f"Invalid value: '{part['type']}'. Supported values are: {known} ({at})"
        )
        if part["type"] == "input_image":
            _check(str(part["image_url"]).startswith("data:image/"), f"Invalid '{at}.image_url'.")


def _check_outputs(items: Sequence[Mapping[str, Any]]) -> None:
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for name in calls:
        _check(name in outputs, f"No tool output found for function call {name}.")
    for name in outputs:
        _check(name in calls, f"No tool call found for function call output with call_id {name}.")


def _turn(item: Mapping[str, Any]) -> str:
    return str(item["call_id"])[-2]


def _sealed(name: str) -> str:
    return f"gAAAA<{name}>"


def _thought(number: int, k: int) -> dict[str, Any]:
    name = f"rs_{number}{k}"
    summary = [{"type": "summary_text", "text": f"thought {number}{k}"}]
    return {"type": "reasoning", "id": name, "summary": summary, "encrypted_content": _sealed(name)}


def _call(number: int, k: int) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{number}{k}",
        "call_id": f"call_{number}{k}",
        "name": TOOL,
        "arguments": "{}",
        "status": "completed",
    }


def _message(number: int, part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"msg_{number}0",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _error(message: str, code: str | None = None) -> dict[str, Any]:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return {"error": error}


def _check(holds: object, message: str, *, code: str | None = None) -> None:
    require(holds, 400, _error(message, code))
