"""A model as a user writes it into a job: its id, endpoint, limits and price."""

from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator

from gnomon.core.model import CALL_TIMEOUT_S, is_built_in, provider_in
from gnomon.core.read_calls import ToolCallsIn
from gnomon.core.validation import StrictModel

ReasoningHistory = Literal["auto", "all", "last", "none"]


class Price(StrictModel):
    """Dollars for a million tokens; a part left out costs as much as what it is part of."""

    input: float = Field(ge=0, le=1e6, description="Dollars per million prompt tokens.")
    output: float = Field(ge=0, le=1e6, description="Dollars per million completion tokens.")
    cached_input: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description="Dollars per million read from the prompt cache; null: as `input`.",
    )
    cache_write: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description="Dollars per million written to the prompt cache; null: as `input`.",
    )
    reasoning: float | None = Field(
        default=None, ge=0, le=1e6, description="Dollars per million reasoning tokens; null: as `output`."
    )


class Rate(StrictModel):
    """The most that may be asked of a provider key, by all workers together."""

    requests_per_minute: int | None = Field(
        default=None, ge=1, le=10_000_000, description="Calls per minute; null: no limit of this kind."
    )
    tokens_per_minute: int | None = Field(
        default=None,
        ge=1,
        le=100_000_000_000,
        description="Prompt and completion tokens per minute; null: no limit of this kind.",
    )
    in_flight: int | None = Field(
        default=None, ge=1, le=100_000, description="Calls at the same time; null: no limit of this kind."
    )

    def within(self, other: Self) -> Self:
        """The stricter of two, limit by limit.

        >>> Rate(in_flight=8).within(Rate(in_flight=4, requests_per_minute=60))
        Rate(requests_per_minute=60, tokens_per_minute=None, in_flight=4)
        """
        both = {name: (getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        stated = {name: [limit for limit in pair if limit is not None] for name, pair in both.items()}
        return self.model_copy(update={name: min(pair, default=None) for name, pair in stated.items()})


class ModelSpec(StrictModel):
    """A model: `reference`, `scripted…`, or any LiteLLM id; the key is named, never written."""

    id: str = Field(
        min_length=1,
        description="`reference`, `scripted` with any suffix, or any LiteLLM id such as `openai/gpt-4o`.",
    )
    name: str = Field(
        default="", description="What rows and reports call the model, unique in the job; empty: its `id`."
    )
    api_base: str | None = Field(
        default=None,
        description="Address of an endpoint, `http(s)://host[:port][/path]`; null: the provider's own.",
    )
    api_key_env: str | None = Field(
        default=None,
        description=(
            "Name of the worker's variable that holds the key; null: the provider's usual one, but no key "
            "for an `api_base`."
        ),
    )
    api: Literal["chat", "responses"] = Field(
        default="chat",
        description="OpenAI's protocol that the model speaks: chat completions, or the Responses API.",
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Temperature of the replies; null: as `decoding` sets it, else the provider's default.",
    )
    max_tokens: int | None = Field(
        default=None,
        gt=0,
        description="The most tokens of one reply; null: as `decoding` sets it, else the provider's default.",
    )
    price: Price | None = Field(
        default=None,
        description="What its tokens cost; null: as the provider or LiteLLM's table states, else unknown.",
    )
    pictures: bool = Field(
        default=True,
        description=(
            "Whether the model takes pictures; false: it gets text only, with a note in place of each "
            "picture."
        ),
    )
    videos: bool | None = Field(
        default=None,
        exclude_if=lambda videos: videos is None,  # so that hashes of older specs stay
        description=(
            "Whether the model takes whole videos; false: it gets frames; null: as LiteLLM's table says, and "
            "false at an `api_base`."
        ),
    )
    rate: Rate | None = Field(
        default=None,
        description="Limits of its provider key, where they are stricter than the operator's; null: those.",
    )
    client: Literal["auto", "direct", "litellm"] = Field(
        default="auto",
        description=(
            "What makes the calls: Gnomon's own client, or LiteLLM; `auto` uses its own wherever it fits."
        ),
    )
    reasoning_history: ReasoningHistory = Field(
        default="auto",
        description=(
            "Turns that are sent back with their reasoning: all, those since the last user message, or "
            "none; `auto`: what the provider accepts."
        ),
    )
    prompt_cache: Literal["auto", "off"] = Field(
        default="auto",
        description=(
            "Whether to mark prompts for providers that cache only marked beginnings; `off` marks nothing."
        ),
    )
    tool_calls: ToolCallsIn = Field(
        default="native",
        exclude_if=lambda tool_calls: tool_calls == "native",  # so that hashes of older specs stay
        description=(
            "Where the model's calls of tools are read: `native`, as its server tells them; `text`, also "
            "from the words of a reply, in every known form; `auto`, from words until it has called natively."
        ),
    )
    call_seconds: float = Field(
        default=CALL_TIMEOUT_S,
        gt=0,
        le=86_400,
        exclude_if=lambda seconds: seconds == CALL_TIMEOUT_S,  # so that hashes of older specs stay
        description="Seconds after which one call is given up and tried again.",
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="Further parameters, passed on to the provider as they are; no keys and no addresses.",
    )

    @property
    def label(self) -> str:
        """What rows and reports call it."""
        return self.name or self.id

    @field_validator("api")
    @classmethod
    def _speaks_that_api(cls, api: str, info: ValidationInfo) -> str:
        model_id, base = info.data.get("id", ""), info.data.get("api_base")
        provider = provider_in(model_id)
        if api == "responses" and (provider == "anthropic" or is_built_in(model_id)):
            raise ValueError(f"{model_id} does not speak OpenAI's Responses API; allowed: chat")
        if api == "responses" and provider != "openai" and not base:
            raise ValueError(f"without an api_base only openai/… has an address for this, not {model_id}")
        return api

    @field_validator("client")
    @classmethod
    def _carries_that_api(cls, client: str, info: ValidationInfo) -> str:
        if client == "litellm" and info.data.get("api") == "responses":
            raise ValueError("`api: responses` is called directly; allowed: auto, direct")
        return client
