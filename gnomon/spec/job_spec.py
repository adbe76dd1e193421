"""A job as a user writes it: its fields with their types and bounds. Rules across fields: `rules.py`."""

import operator
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from gnomon.core.arm import Arm, Contrast
from gnomon.core.benchmark import BENCHMARKS, Benchmark, PromptProtocol, ReadsOwnFiles
from gnomon.core.decoding import EVERY_TASK, NO_DECODING, Decoding
from gnomon.core.errors import SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.model import CALL_TIMEOUT_S, is_built_in, provider_in
from gnomon.core.read_calls import ToolCallsIn
from gnomon.core.retry import DEFAULT_RETRY, RetryPolicy, is_default
from gnomon.core.select import Select
from gnomon.core.validation import StrictModel
from gnomon.core.words import FIRST_WORDS, WordsVersion
from gnomon.spec.analysis_spec import AnalysisSpec
from tools.core.outside import PluginFault
from tools.core.registry import UnknownPlugin
from tools.core.tool import Tool, contract_hash
from tools.core.toolbox import TOOLS
from tools.servers.definition import ToolServer

ReasoningHistory = Literal["auto", "all", "last", "none"]


class Price(StrictModel):
    """Dollars for a million tokens; a part left out costs as much as what it is part of."""

    input: float = Field(ge=0, le=1e6, description="Dollars per million prompt tokens.")
    output: float = Field(ge=0, le=1e6, description="Dollars per million completion tokens.")
    cached_input: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description=(
            "Dollars per million prompt tokens that are read from the provider's prompt cache; null: as "
            "`input`."
        ),
    )
    cache_write: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description=(
            "Dollars per million prompt tokens that are written to the provider's prompt cache; null: as "
            "`input`."
        ),
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
            "Name of the worker's environment variable that holds the key, never the key itself; null: "
            "the provider's usual variable, but no key for an `api_base`."
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
        description=(
            "Limits of its provider key, which count where they are stricter than the operator's; null: "
            "the operator's alone."
        ),
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
            "The turns that are sent back with their reasoning: all, those since the last user message, "
            "or none; `auto` sends what the provider accepts."
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
        description="Seconds that one call of the model may take before it is given up and tried again.",
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


class LimitsSpec(StrictModel):
    """What the whole job may spend, and how long one trial may take."""

    usd: float | None = Field(
        default=None,
        gt=0,
        description=(
            "Dollars that the job may spend: calls that could exceed it are not made; null: no limit."
        ),
    )
    tokens: int | None = Field(
        default=None,
        gt=0,
        description=(
            "Prompt and completion tokens that the job may use: calls that could exceed it are not made; "
            "null: no limit."
        ),
    )
    trial_seconds: float = Field(
        default=300.0,
        gt=0,
        description=(
            "Seconds after which a trial ends as the model's failure; waits for rate limits do not count."
        ),
    )


class PluginPin(StrictModel):
    """A plug-in of another's that a job uses, as it was when the job was stored."""

    distribution: str = Field(
        max_length=200, description="Name of the installed package, or of the plug-in file."
    )
    version: str = Field(default="", max_length=100, description="The package's version; empty for a file.")
    contract: str = Field(
        max_length=64, description="Hash of what it offers: of a tool its name, description and schema."
    )
    code: str = Field(default="", max_length=64, description="Hash of its Python files.")


class JobSpec(StrictModel):
    """samples × models × arms × repeats, and how to look at the result."""

    name: str = Field(
        default="", max_length=200, description="What lists and the report call the job; empty: no name."
    )
    benchmark: str = Field(
        description="Name of the benchmark that the questions come from; `gnomon benchmarks` lists them."
    )
    data: str | None = Field(
        default=None,
        description=(
            "Folder of the benchmark's published files, or one's own file of questions, relative to the "
            "current folder (over REST: to one of `GNOMON_MEDIA_ROOTS`); null: none, for generated questions."
        ),
    )
    data_sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        exclude_if=lambda sha256: sha256 is None,  # so that hashes of older specs stay
        description=(
            "SHA-256 of one's own file of questions, frozen with the job, which goes on with no other file. "
            "null: that of the file when the job is posted."
        ),
    )
    columns: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda columns: not columns,  # so that hashes of older specs stay
        description=(
            "What a file of one's own calls the columns of `questions`, `{ours: theirs}`; empty: as they are "
            "called here."
        ),
    )
    scorer: str | dict[str, Any] | None = Field(
        default=None,
        exclude_if=lambda scorer: scorer is None,  # so that hashes of older specs stay
        description=(
            "How answers to `questions` are scored where a row does not say: a scorer's name, or "
            "`{name: {parameter: value}}`; null: `option` where there are options, else `text`."
        ),
    )
    judge: ModelSpec | None = Field(
        default=None,
        exclude_if=lambda judge: judge is None,  # so that hashes of older specs stay
        description=(
            "The model that says whether replies are right, for questions whose scorer is `judge`; its name "
            "differs from those of `models`. null: rules score every reply."
        ),
    )
    select: Select = Field(
        default=Select(),
        description="Which samples are asked; by default all that the benchmark has or generates.",
    )
    protocol: PromptProtocol = Field(
        default="guarded",
        description=(
            "Prompt, frames and decoding: Gnomon's own without leaks, those of the released code, or "
            "those of the paper."
        ),
    )
    words: WordsVersion = Field(
        default=FIRST_WORDS,
        exclude_if=lambda words: words == FIRST_WORDS,  # so that hashes of older specs stay
        description=(
            "Version of the words of guarded prompts and of agents, set when the job is frozen; jobs of "
            "earlier versions have 1."
        ),
    )
    decoding: dict[str, Decoding] | None = Field(
        default=None,
        description=(
            "How replies are drawn, by task or for `all`; null: as the protocol sets it, `{}`: the "
            "provider's defaults."
        ),
    )
    scoring: Literal["official", "strict"] = Field(
        default="strict",
        description="How answers are scored: as the benchmark's released code does, or strictly.",
    )
    variant: str | None = Field(
        default=None,
        description=(
            "Name of one of the benchmark's official scorers, where it has several; null: its usual one."
        ),
    )
    models: list[ModelSpec] = Field(
        min_length=1,
        description=(
            "The models that answer, each under every arm; their names differ. May be left out where only "
            "agents from outside answer: then `{id: agent}`, the agent's own."
        ),
    )
    arms: list[Arm] = Field(
        min_length=1,
        description=(
            "The conditions that are compared, with different names. `{preset: NAME}` with its options "
            "may be written in place of the list."
        ),
    )
    repeats: int = Field(
        default=1, ge=1, le=1000, description="How often each model answers each sample under each arm."
    )
    concurrency: int = Field(
        default=64, ge=1, le=5000, description="Trials that a worker runs at the same time."
    )
    preflight: bool = Field(
        default=True,
        description=(
            "Whether each model gets one tiny call before the first trial, to find a refused key early."
        ),
    )
    cache: bool = Field(
        default=True,
        description="Whether replies of earlier jobs and attempts are used again for the same request.",
    )
    keep_reasoning: bool = Field(
        default=True, description="Whether traces keep the models' reasoning, as far as providers show it."
    )
    queue: str = Field(
        default="default",
        pattern=r"^[a-z0-9_-]{1,40}$",
        description="The queue whose workers run the job: 1 to 40 lower-case letters, digits, `_` or `-`.",
    )
    priority: Literal["low", "normal", "high"] = Field(
        default="normal",
        description="How early its trials start in its queue, and how much it gets of a shared rate limit.",
    )
    limits: LimitsSpec = Field(
        default=LimitsSpec(), description="What the job may spend, and how long a trial may take."
    )
    retry: RetryPolicy = Field(
        default=DEFAULT_RETRY,
        exclude_if=is_default,
        description="How a call that failed is tried again, where it may succeed later.",
    )
    analysis: AnalysisSpec = Field(default=AnalysisSpec(), description="Which arms are compared, and how.")
    plugins: dict[str, PluginPin] = Field(
        default_factory=dict,
        exclude_if=lambda plugins: not plugins,  # so that hashes of older specs stay
        description=(
            "Plug-ins of others that the job uses, by `KIND/NAME`, set when the job is frozen; written by "
            "hand, it demands these very ones."
        ),
    )
    servers: dict[str, ToolServer] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description=(
            "Servers whose tools arms have, by name; a server that is written among an arm's tools is moved "
            "here when the job is frozen, with a listing of its tools."
        ),
    )

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        for field, names in (
            ("models", [model.label for model in self.models]),
            ("arms", [arm.name for arm in self.arms]),
        ):
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            if twice:
                raise ValueError(f"{field}: the name {twice[0]!r} stands twice; give each its own `name`")
        if self.judge is not None and self.judge.label in (model.label for model in self.models):
            raise ValueError(f"judge: {self.judge.label!r} is also one of `models`; give it a `name`")
        return self

    @property
    def content_hash(self) -> str:
        """The same for the same spec in one version of Gnomon; a field that is added changes it."""
        return stable_hash(self.model_dump(mode="json"))

    @property
    def all_models(self) -> tuple[ModelSpec, ...]:
        """Those that answer, and the judge if there is one."""
        return tuple(self.models) if self.judge is None else (*self.models, self.judge)

    @property
    def called_models(self) -> Mapping[str, ModelSpec]:
        """The models that Gnomon calls itself, by their field of the spec: those that answer, unless only
        agents from outside do, and the judge.
        """
        called = {} if self.answers_outside else {f"models.{at}": each for at, each in enumerate(self.models)}
        return called if self.judge is None else called | {"judge": self.judge}

    @property
    def answers_outside(self) -> bool:
        """Whether only agents from outside answer."""
        return all(arm.outside for arm in self.arms)

    def plugin(self) -> Benchmark:
        """The benchmark's plug-in, for files with the columns and the scorer of this spec."""
        plugin = BENCHMARKS.get(self.benchmark)
        if isinstance(plugin, ReadsOwnFiles) and (self.columns or self.scorer is not None):
            return plugin.reading(self.columns, self.scorer)
        return plugin

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

    @cached_property
    def server_tools(self) -> Mapping[str, Tool[Any]]:
        """The tools of the spec's servers, by the names that arms have for them."""
        if not self.servers:
            return {}
        from tools.servers.tool import server_tool  # late: few jobs have servers

        return {
            listed.shown: server_tool(name, server, listed)
            for name, server in self.servers.items()
            for listed in (server.listing.tools if server.listing else ())
        }

    def toolset(self, arm: Arm) -> tuple[Tool[Any], ...]:
        """The arm's tools, our own and those of servers, in the order of their names.

        Raises:
            UnknownPlugin: there is no such tool here.
        """
        foreign = self.server_tools
        return tuple(foreign[name] if name in foreign else TOOLS.get(name) for name in arm.tools)

    def contract_of(self, arm: Arm) -> str:
        """Hash of what the model is offered: names, schemas and descriptions of the arm's tools."""
        if self.server_tools.keys().isdisjoint(arm.tools):
            return arm.toolset_hash
        return contract_hash(self.toolset(arm))

    def toolset_unchanged(self, arm: Arm) -> bool:
        """Whether the arm's tools are still here, and offered as they were when the job was frozen."""
        try:
            return arm.contract in ("", self.contract_of(arm))
        except (UnknownPlugin, PluginFault):
            return False

    def model(self, label: str) -> ModelSpec:
        """The model whose label is `label`.

        Raises:
            SpecError: the model does not exist; the message lists those that do.
        """
        for model in self.all_models:
            if model.label == label:
                return model
        raise SpecError(
            f"no model {label!r}; there are: {', '.join(m.label for m in self.models)}", field="model"
        )


def shows_media(spec: JobSpec) -> bool:
    """Whether some arm shows pictures or clips."""
    return any("media" in arm.show for arm in spec.arms)
