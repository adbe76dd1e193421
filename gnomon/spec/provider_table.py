"""The providers that speak OpenAI's chat protocol: address, key, and what they want back.

What is not listed here takes a turn back as it came, under the names it came in.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider, or one family of its models."""

    base: str | None = None  # its address, where a spec names none
    key: str | None = None  # the variable that usually holds its key
    is_direct: bool = False  # without an `api_base` too: LiteLLM drops or changes too much on the way
    only: frozenset[str] | None = None  # the fields of its own turn that it takes back; None: all
    # A field goes back only where its rival is absent.
    instead: Mapping[str, str] = field(default_factory=dict)
    # Fields that go back with every turn that has calls, and what stands in one that is absent or empty.
    always: Mapping[str, str] = field(default_factory=dict)
    between: str | None = None  # what the assistant must say after a tool before the user may speak
    seed: str | None = "seed"  # what it calls a seed; None: it refuses one
    own_decoding: re.Pattern[str] | None = None  # models that refuse a temperature and top-p but their own
    fields: Mapping[str, Any] = field(default_factory=dict)  # of every request

    def taken_back(self, body: dict[str, Any]) -> dict[str, Any]:
        """What this provider takes of a turn of its own.

        >>> Provider(only=frozenset({"content"})).taken_back({"content": [], "reasoning": "hm"})
        {'content': []}
        """
        if self.only is None and not self.instead:
            return body
        return {
            name: value
            for name, value in body.items()
            if (self.only is None or name in self.only) and self.instead.get(name) not in body
        }


UNKNOWN = Provider()

PROVIDERS: dict[str, Provider] = {
    # docs.cerebras.ai: an assistant's `reasoning` is taken back; `reasoning_content` is refused
    "cerebras": Provider(base="https://api.cerebras.ai/v1", key="CEREBRAS_API_KEY"),
    "dashscope": Provider(
        base="https://dashscope-intl.aliyuncs.com/compatible-mode/v1", key="DASHSCOPE_API_KEY"
    ),
    # api-docs.deepseek.com, "Thinking Mode": with tool calls `reasoning_content` must be passed back, even ""
    "deepseek": Provider(
        base="https://api.deepseek.com", key="DEEPSEEK_API_KEY", always={"reasoning_content": ""}
    ),
    "fireworks_ai": Provider(base="https://api.fireworks.ai/inference/v1", key="FIREWORKS_AI_API_KEY"),
    # ai.google.dev, "Thought signatures": `extra_content` of a call goes back on that call
    "gemini": Provider(
        base="https://generativelanguage.googleapis.com/v1beta/openai",
        key="GEMINI_API_KEY",
        seed=None,  # 400 'Unknown name "seed": Cannot find field'
    ),
    # 400 "property 'reasoning' is unsupported", for most of its models
    "groq": Provider(base="https://api.groq.com/openai/v1", key="GROQ_API_KEY", only=frozenset()),
    # platform.minimax.io, "Interleaved thinking": the whole content, <think> included, or `reasoning_details`
    "minimax": Provider(base="https://api.minimax.io/v1", key="MINIMAX_API_KEY", is_direct=True),
    # docs.mistral.ai, "Reasoning": chunks of the content; any other field is 422 extra_forbidden
    "mistral": Provider(
        base="https://api.mistral.ai/v1",
        key="MISTRAL_API_KEY",
        is_direct=True,
        only=frozenset({"content"}),
        between="Now I look at the pictures.",  # 400 "Unexpected role 'user' after role 'tool'"
        seed="random_seed",
    ),
    # platform.moonshot.ai: 400 where `reasoning_content` is missing or empty on a turn with calls (a space
    # is taken); K2.5 and later refuse any temperature but their own
    "moonshot": Provider(
        base="https://api.moonshot.ai/v1",
        key="MOONSHOT_API_KEY",
        is_direct=True,
        always={"reasoning_content": " "},
        own_decoding=re.compile(r"kimi-(k2\.\d|k[3-9]|.*thinking)"),
    ),
    # openrouter.ai/docs, "Reasoning tokens": `reasoning_details` unmodified; `reasoning` is the same in words
    "openrouter": Provider(
        base="https://openrouter.ai/api/v1",
        key="OPENROUTER_API_KEY",
        is_direct=True,
        instead={"reasoning": "reasoning_details", "reasoning_content": "reasoning_details"},
        fields={"usage": {"include": True}},  # else it does not say what the call cost
    ),
    "openai": Provider(base="https://api.openai.com/v1", key="OPENAI_API_KEY"),
    "together_ai": Provider(base="https://api.together.xyz/v1", key="TOGETHER_API_KEY"),
    "xai": Provider(base="https://api.x.ai/v1", key="XAI_API_KEY"),
    # docs.z.ai, "Thinking Mode": `reasoning_content` unmodified with the tool results
    "zai": Provider(base="https://api.z.ai/api/paas/v4", key="ZAI_API_KEY", seed=None),
}
# docs of Groq, "Reasoning": gpt-oss takes the `reasoning` of its turns with calls back
_GROQ_GPT_OSS = Provider(
    base=PROVIDERS["groq"].base, key=PROVIDERS["groq"].key, only=frozenset({"reasoning"})
)


_HOSTS = {urlsplit(provider.base).hostname: name for name, provider in PROVIDERS.items() if provider.base} | {
    "api.minimaxi.com": "minimax",
    "api.moonshot.cn": "moonshot",
    "dashscope.aliyuncs.com": "dashscope",
    "open.bigmodel.cn": "zai",
}


def provider_of(model_id: str, api_base: str | None = None) -> Provider:
    """The provider behind a model: that of the address, if it is one of the table's, else the one that the
    part of the id before the slash names.

    >>> provider_of("groq/openai/gpt-oss-120b").only, provider_of("hosted_vllm/qwen") is UNKNOWN
    (frozenset({'reasoning'}), True)
    >>> provider_of("openai/qwen", "https://api.groq.com/openai/v1").only
    frozenset()
    """
    name, _, model = model_id.partition("/")
    if api_base:
        with suppress(ValueError):  # no address at all: the call will say so
            name = _HOSTS.get(urlsplit(api_base).hostname, name)
    if name == "groq" and "gpt-oss" in model:
        return _GROQ_GPT_OSS
    return PROVIDERS.get(name, UNKNOWN)
