"""Names of OpenTelemetry's conventions for generative AI, and what a trial's steps are by them.

Pinned to schema 1.44.0, whose names `opentelemetry-semantic-conventions` 0.66b2 holds (a test compares them);
the conventions are still in development.
"""

import json
from collections.abc import Sequence
from typing import Any

from gnomon.core.model import provider_in
from gnomon.core.row import Row
from gnomon.exchange.conversation import Json, arguments_of, name_of, without_none
from gnomon_tools.core.json_text import json_value

SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CHAT, TOOL_CALL, AGENT = "chat", "execute_tool", "invoke_agent"
EVALUATION = "gen_ai.evaluation.result"  # the name of the event that says a trial's score
PROVIDERS = {  # LiteLLM's prefixes by the names of the conventions; any other stays as it is
    "gemini": "gcp.gemini",
    "vertex_ai": "gcp.vertex_ai",
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "mistral": "mistral_ai",
    "xai": "x_ai",
    "watsonx": "ibm.watsonx.ai",
}
REQUESTED = ("temperature", "max_tokens")  # options of a model that a chat's span says
Value = str | int | float | bool | Sequence[str]


def provider_of(model_id: str) -> str:
    """The provider's name of a model.

    >>> provider_of("mistral/large"), provider_of("openai/gpt-4o")
    ('mistral_ai', 'openai')
    """
    provider = provider_in(model_id)
    return PROVIDERS.get(provider, provider)


def chat_attributes(step: Json, *, model: str, provider: str, options: Json) -> dict[str, Value]:
    """What a reply's span says, without its content; `options` are those of the request."""
    reason = step.get("finish_reason")
    cached, written = step.get("cached_tokens"), step.get("cache_write_tokens")
    return without_none(
        {
            OPERATION: CHAT,
            PROVIDER: provider,
            "gen_ai.request.model": model,
            **{f"gen_ai.request.{name}": options.get(name) for name in REQUESTED},
            "gen_ai.response.finish_reasons": [str(reason)] if reason else None,
            "gen_ai.usage.input_tokens": step.get("prompt_tokens"),
            "gen_ai.usage.output_tokens": step.get("completion_tokens"),
            "gen_ai.usage.cache_read.input_tokens": cached,
            "gen_ai.usage.cache_creation.input_tokens": written,
            "gen_ai.usage.reasoning.output_tokens": step.get("reasoning_tokens"),
            "gnomon.usd": step.get("usd"),
            "gnomon.tries": step.get("tries"),
            "gnomon.cached": step.get("cached"),
        }
    )


def tool_attributes(step: Json, *, call_id: str | None, has_content: bool) -> dict[str, Value]:
    """What a call's span says."""
    return without_none(
        {
            OPERATION: TOOL_CALL,
            "gen_ai.tool.name": str(step.get("name")),
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": str(step.get("arguments") or "") if has_content else None,
            "gen_ai.tool.call.result": str(step.get("observation") or "") if has_content else None,
            "error.type": step.get("error"),
            "gnomon.injected": step.get("injected"),
        }
    )


def input_messages(messages: Sequence[Json]) -> str:
    """Messages of a prompt, as the attribute holds them: JSON."""
    return json.dumps([{"role": each.get("role"), "parts": _parts(each)} for each in messages])


def _parts(message: Json) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    parts = [_part(block) for block in blocks]
    if message.get("role") == "tool":
        text = "\n".join(part["content"] for part in parts if "content" in part)
        return [{"type": "tool_call_response", "id": message.get("tool_call_id"), "response": text}]
    return [*parts, *map(_wish, message.get("tool_calls") or ())]


def _part(block: Json) -> dict[str, Any]:
    if block.get("type") == "text":
        return {"type": "text", "content": str(block.get("text") or "")}
    return {
        "type": "uri",
        "mime_type": str(block.get("media_type")),
        "modality": str(block.get("type")),
        "uri": f"sha256:{block.get('sha256')}",
    }


def _wish(wish: Json) -> dict[str, Any]:
    text = arguments_of(wish)
    arguments = json_value(text, otherwise=text)
    return {"type": "tool_call", "id": wish.get("id"), "name": name_of(wish), "arguments": arguments}


def output_messages(step: Json) -> str:
    """A reply, as the attribute holds it: JSON."""
    return json.dumps([_output_message(step)])


def evaluation_of(row: Row) -> tuple[str, dict[str, Value]]:
    """Name and attributes of the event that says the score of a trial."""
    return EVALUATION, {
        "gen_ai.evaluation.name": f"gnomon.{row.benchmark}",
        "gen_ai.evaluation.score.value": float(row.score or 0.0),
    }


def _output_message(step: Json) -> dict[str, Any]:
    """A reply as a message of the conventions."""
    parts: list[dict[str, Any]] = []
    if step.get("reasoning"):
        parts.append({"type": "reasoning", "content": step["reasoning"]})
    if step.get("text"):
        parts.append({"type": "text", "content": step["text"]})
    parts += map(_wish, step.get("tool_calls") or ())
    return {"role": "assistant", "parts": parts, "finish_reason": str(step.get("finish_reason") or "stop")}
