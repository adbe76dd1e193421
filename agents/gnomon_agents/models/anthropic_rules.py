"""Sets what Anthropic's models take beside the conversation: limits, sampling, thinking, tool choice."""

import re
from typing import Any

from gnomon.core.decoding import NO_DECODING, Decoding
from gnomon.core.message import ToolChoice
from gnomon.price_table import most_output_tokens
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.endpoint import Endpoint

ENDPOINT = Endpoint(
    address="https://api.anthropic.com",
    path=("v1", "messages"),
    key_variable="ANTHROPIC_API_KEY",
    reserved=frozenset({"model", "messages", "system", "tools", "tool_choice", "stream"}),
)
OPTIONS = frozenset(  # of the spec, in Anthropic's own words; any other is LiteLLM's affair
    {
        *("thinking", "output_config", "output_format", "betas", "temperature", "top_p", "top_k"),
        *("max_tokens", "stop_sequences", "metadata", "service_tier", "speed", "inference_geo"),
        *("cache_control", "context_management", "parallel_tool_calls"),
    }
)
MAX_TOKENS = 32_000  # where nobody sets it: the API must be told
MAX_TOKENS_OF_UNKNOWN = 8_192
CHOICES = {"auto": "auto", "required": "any", "none": "none"}
_NOT_IN_BODY = frozenset({*Decoding.model_fields, "betas", "parallel_tool_calls"})
# Since Opus 4.7 they refuse temperature, top_p and top_k.
_SAMPLES = re.compile(r"claude-(?:instant|[23]|(?:opus|sonnet|haiku)-4(?!-[7-9]))")


class ModelRules:
    """What one model's requests say beside conversation and tools."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self.name = spec.id.partition("/")[2] or spec.id
        thinking = spec.options.get("thinking")
        self._thinking = thinking if isinstance(thinking, dict) else {}
        self._options = {name: value for name, value in spec.options.items() if name not in _NOT_IN_BODY}
        own = wire.sampling_params(spec, NO_DECODING)
        self._own = {name: value for name, value in own.items() if value is not None}

    def fields(self, protocol: Decoding) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The fields, and which of the protocol's settings were left out or changed because the model refuses
        them: a limit that the budget of thinking fills leaves room for as long an answer behind it.

        What the spec itself sets is sent as it is.

        >>> new, old = (ModelRules(ModelSpec(id=f"anthropic/claude-opus-4-{n}")) for n in (7, 6))
        >>> new.fields(Decoding(temperature=0, max_tokens=9))
        ({'max_tokens': 9}, ('temperature: 0.0 → absent',))
        >>> old.fields(Decoding(temperature=0, top_p=1, max_tokens=9))
        ({'max_tokens': 9, 'temperature': 0.0}, ('top_p: 1.0 → absent',))
        """
        drawn = wire.sampling_params(self._spec, protocol)
        refused = [
            name
            for name in ("temperature", "top_p")
            if name in drawn and name not in self._own and not self._takes(name, drawn)
        ]
        for name in refused:
            del drawn[name]
        changes = wire.absent(self._spec, protocol, drawn)
        limit = drawn.pop("max_tokens", None)
        if limit is None:
            limit = self._most(MAX_TOKENS, MAX_TOKENS_OF_UNKNOWN)
        elif limit <= self._budget and "max_tokens" not in self._own:
            changes += (f"max_tokens: {limit} → {(more := self._most(limit, limit))}",)
            limit = more
        return {"max_tokens": limit, **drawn, **self._options}, changes

    def _takes(self, name: str, drawn: dict[str, Any]) -> bool:
        if self.name.startswith("claude") and not _SAMPLES.match(self.name):
            return False
        is_thinking = self._thinking.get("type") in ("enabled", "adaptive")
        return not is_thinking and not (name == "top_p" and "temperature" in drawn)

    @property
    def _budget(self) -> int:
        budget = self._thinking.get("budget_tokens") if self._thinking.get("type") == "enabled" else 0
        return budget if isinstance(budget, int) else 0

    def _most(self, answer: int, answer_of_unknown: int) -> int:
        """Enough for the budget of thinking and an answer behind it, as far as the model goes."""
        most = most_output_tokens(self._spec.id)
        return answer_of_unknown + self._budget if most is None else min(answer + self._budget, most)

    def tool_choice(self, choice: ToolChoice) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The choice in Anthropic's words. Thinking with a budget of its own refuses to be forced to a call.

        >>> spec = ModelSpec(id="anthropic/m", options={"thinking": {"type": "enabled"}})
        >>> ModelRules(spec).tool_choice("required")
        ({'type': 'auto'}, ('tool_choice: required → auto',))
        """
        changes: tuple[str, ...] = ()
        if choice == "required" and self._thinking.get("type") == "enabled":
            choice, changes = "auto", ("tool_choice: required → auto",)
        out: dict[str, Any] = {"type": CHOICES[choice]}
        if choice != "none" and self._spec.options.get("parallel_tool_calls") is False:
            out["disable_parallel_tool_use"] = True
        return out, changes

    def headers(self, key: str) -> dict[str, str]:
        """The key, the API's version, and what is in beta."""
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        betas = self._spec.options.get("betas")
        if betas:
            headers["anthropic-beta"] = betas if isinstance(betas, str) else ",".join(map(str, betas))
        return headers
