"""A job as a user writes it: its fields with their types and bounds. Rules across fields: `rules.py`."""

from collections import Counter
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from gnomon.core.arm import Arm, Contrast
from gnomon.core.benchmark import BENCHMARKS, Benchmark, PromptProtocol, Select
from gnomon.core.decoding import EVERY_TASK, NO_DECODING, Decoding
from gnomon.core.errors import SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.model import is_built_in, provider_in
from gnomon.core.retry import DEFAULT_RETRY, RetryPolicy, is_default
from gnomon.core.validation import StrictModel
from gnomon.spec.analysis_spec import AnalysisSpec

ReasoningHistory = Literal["auto", "all", "last", "none"]


class Price(StrictModel):
    """Dollars for a million tokens; a part left out costs as much as what it is part of."""

    input: float = Field(ge=0, le=1e6)
    output: float = Field(ge=0, le=1e6)
    cached_input: float | None = Field(default=None, ge=0, le=1e6)  # read from the provider's prompt cache
    cache_write: float | None = Field(default=None, ge=0, le=1e6)
    reasoning: float | None = Field(default=None, ge=0, le=1e6)


class Rate(StrictModel):
    """The most that may be asked of a provider key, by all workers together; None: no limit of that kind."""

    requests_per_minute: int | None = Field(default=None, ge=1, le=10_000_000)
    tokens_per_minute: int | None = Field(default=None, ge=1, le=100_000_000_000)
    in_flight: int | None = Field(default=None, ge=1, le=100_000)

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

    id: str = Field(min_length=1)
    name: str = ""
    api_base: str | None = None
    api_key_env: str | None = None
    api: Literal["chat", "responses"] = "chat"  # which of OpenAI's protocols it speaks
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, gt=0)
    price: Price | None = None
    pictures: bool = True  # false: it takes text only; a note says where a picture was left out
    rate: Rate | None = None  # counts where it is stricter than the operator's
    client: Literal["auto", "direct", "litellm"] = "auto"  # what carries its calls
    reasoning_history: ReasoningHistory = "auto"  # which of its turns go back to it with their reasoning
    prompt_cache: Literal["auto", "off"] = "auto"  # marks for providers that cache a prefix only on demand
    options: dict[str, Any] = Field(default_factory=dict)  # passed on to the provider as they are

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


class LimitsSpec(StrictModel):
    """What the whole job may spend, and how long one trial may take."""

    usd: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)
    trial_seconds: float = Field(default=300.0, gt=0)


class JobSpec(StrictModel):
    """samples × models × arms × repeats, and how to look at the result."""

    name: str = Field(default="", max_length=200)
    benchmark: str
    data: str | None = None
    select: Select = Select()
    protocol: PromptProtocol = "guarded"
    decoding: dict[str, Decoding] | None = None  # by task or `all`; None: as the protocol sets it
    scoring: Literal["official", "strict"] = "strict"
    variant: str | None = None
    models: list[ModelSpec] = Field(min_length=1)
    arms: list[Arm] = Field(min_length=1)
    repeats: int = Field(default=1, ge=1, le=1000)
    concurrency: int = Field(default=64, ge=1, le=5000)
    preflight: bool = True  # one tiny call of each model before the first trial
    cache: bool = True  # replies of earlier jobs and attempts are used again
    keep_reasoning: bool = True  # in traces, as far as providers show it
    queue: str = Field(default="default", pattern=r"^[a-z0-9_-]{1,40}$")
    priority: Literal["low", "normal", "high"] = "normal"
    limits: LimitsSpec = LimitsSpec()
    retry: RetryPolicy = Field(default=DEFAULT_RETRY, exclude_if=is_default)  # calls that fail in passing
    analysis: AnalysisSpec = AnalysisSpec()

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        for field, names in (
            ("models", [model.label for model in self.models]),
            ("arms", [arm.name for arm in self.arms]),
        ):
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            if twice:
                raise ValueError(f"{field}: the name {twice[0]!r} stands twice; give each its own `name`")
        return self

    @property
    def content_hash(self) -> str:
        """The same for the same spec in one version of Gnomon; a field that is added changes it."""
        return stable_hash(self.model_dump(mode="json"))

    def plugin(self) -> Benchmark:
        """The benchmark's plug-in."""
        return BENCHMARKS.get(self.benchmark)

    def decoding_of(self, task: str) -> Decoding:
        """How replies to a question of that task are drawn, where a model's own entry leaves it open."""
        by_task = self.decoding or {}
        return by_task.get(task) or by_task.get(EVERY_TASK) or NO_DECODING

    def contrasts(self) -> tuple[Contrast, ...]:
        """Which arms are compared, primary contrasts first."""
        return self.analysis.planned([arm.name for arm in self.arms])

    def arm(self, name: str) -> Arm:
        """The arm called `name`.

        Raises:
            SpecError: the arm does not exist; the message lists those that do.
        """
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise SpecError(
            f"no arm {name!r}; there are: {', '.join(arm.name for arm in self.arms)}", field="arm"
        )

    def model(self, label: str) -> ModelSpec:
        """The model whose label is `label`.

        Raises:
            SpecError: the model does not exist; the message lists those that do.
        """
        for model in self.models:
            if model.label == label:
                return model
        raise SpecError(
            f"no model {label!r}; there are: {', '.join(m.label for m in self.models)}", field="model"
        )


def shows_media(spec: JobSpec) -> bool:
    """Whether some arm shows pictures or clips."""
    return any("media" in arm.show for arm in spec.arms)
