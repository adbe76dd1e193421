"""An agent behind OpenAI's chat protocol that runs its own tools: one call, whose text is the answer.

The model's id is passed on, without the provider `openai/` before it. The arm's tools go along as a tool of
the type `mcp`, as OpenAI's own API takes them. Steps come from a field `steps` of the answer, if it has one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gnomon.core.errors import AgentFault
from gnomon.core.outside_agent import OutsideAgent
from gnomon_agents.models.error_body import holds_error
from gnomon_agents.models.http_errors import fault_of_body
from gnomon_agents.models.litellm_errors import Scrubber
from gnomon_agents.models.model_version import version_of
from gnomon_outside.asked_agent import AskedAgent
from gnomon_outside.contract import reply_of
from gnomon_outside.question import AgentReply, Question, Subject, chat_messages
from gnomon_outside.web import Web, json_of

PATH = "/chat/completions"


class _Chat(Subject):
    """Posts chats to one address."""

    def __init__(self, spec: OutsideAgent) -> None:
        super().__init__(spec.label)
        base = str(spec.openai).rstrip("/")
        self._url, self._web = base if base.endswith(PATH) else base + PATH, Web(spec)

    async def ask(self, question: Question) -> AgentReply:
        answer = await self._web.post(self._url, _body(question), timeout_s=question.timeout_s)
        content = json_of(answer)
        if isinstance(content, dict) and holds_error(content) and not content.get("choices"):
            raise fault_of_body(200, answer.headers, content, answer.body, Scrubber())
        return _read(content, question)

    async def close(self) -> None:
        await self._web.close()


def _body(question: Question) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": question.model_id.removeprefix("openai/"),
        "messages": chat_messages(question),
    }
    if question.seed is not None:
        body["seed"] = question.seed
    if question.tool_server is not None:
        body["tools"] = [
            {
                "type": "mcp",
                "server_label": "gnomon",
                "server_url": question.tool_server.url,
                "headers": {"Authorization": f"Bearer {question.tool_server.token}"},
                "require_approval": "never",
            }
        ]
    return body


def _read(content: Any, question: Question) -> AgentReply:
    """The reply in a completion.

    Raises:
        AgentFault: `bad_shape`: it is none; `asks_for_calls`: it wants its caller to run tools.
    """
    choices = content.get("choices") if isinstance(content, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        raise AgentFault("the answer is no chat completion: it has no choices[0].message", cause="bad_shape")
    text = _text(message.get("content"))
    if not text and message.get("tool_calls"):
        said = "it asks its caller to run tools; an agent runs its own, and a model belongs into `models`"
        raise AgentFault(said, cause="asks_for_calls")
    steps = content.get("steps", message.get("steps"))
    usage = content.get("usage")
    reply = reply_of(
        text,
        steps if isinstance(steps, list) else None,
        _flat(usage) if isinstance(usage, Mapping) else None,
        question,
    )
    return replace(reply, model_version=version_of(content, Scrubber()))


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    if content is None or isinstance(content, str):
        return content or ""
    raise AgentFault("choices[0].message.content is neither text nor parts", cause="bad_shape")


def _flat(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Usage with the details of OpenAI's beside the totals."""
    flat = dict(usage)
    for details, name in (
        ("prompt_tokens_details", "cached_tokens"),
        ("completion_tokens_details", "reasoning_tokens"),
    ):
        if isinstance(usage.get(details), Mapping):
            flat.setdefault(name, usage[details].get(name))
    flat.setdefault("usd", usage.get("cost"))
    return flat


def openai(spec: OutsideAgent) -> AskedAgent:
    """The agent at an OpenAI-compatible address."""
    return AskedAgent(spec, _Chat(spec))
