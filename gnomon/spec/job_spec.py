"""A job as a user writes it: its fields with their types and bounds. Rules across fields: `rules.py`."""

import operator
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from gnomon.core.arm import Arm, Contrast
from gnomon.core.benchmark import BENCHMARKS, Benchmark, PromptProtocol, ReadsOwnFiles
from gnomon.core.decoding import EVERY_TASK, NO_DECODING, Decoding
from gnomon.core.errors import SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.retry import DEFAULT_RETRY, RetryPolicy, is_default
from gnomon.core.select import Select
from gnomon.core.tool_inputs import ServesBySelect
from gnomon.core.validation import StrictModel
from gnomon.core.words import FIRST_WORDS, WordsVersion
from gnomon.spec.analysis_spec import AnalysisSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon_tools.core.outside import PluginFault
from gnomon_tools.core.registry import UnknownPlugin
from gnomon_tools.core.tool import Tool, contract_hash
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.servers.server_spec import ToolServer


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
            "current folder (over REST: to one of `GNOMON_MEDIA_ROOTS`), or an upload, `upload:HASH.ENDING`; "
            "null: none, for generated questions."
        ),
    )
    data_sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        exclude_if=lambda sha256: sha256 is None,  # so that hashes of older specs stay
        description=(
            "SHA-256 of the file of questions, set when the job is frozen; it goes on with no other file; "
            "null: that of the file as it is."
        ),
    )
    columns: dict[str, str | tuple[str, ...]] = Field(
        default_factory=dict,
        exclude_if=lambda columns: not columns,  # so that hashes of older specs stay
        description=(
            "What a file of one's own calls the columns of `questions`, `{ours: theirs}`; for `cluster` also "
            "a list, such as [scene, template]; empty: as they are called here."
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
            "The model that says whether replies are right, for questions whose scorer is `judge`; its "
            "name differs from those of `models`; null: rules score every reply."
        ),
    )
    select: Select = Field(
        default=Select(),
        description="Which samples are asked.",
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
        default=1,
        ge=1,
        le=1000,
        description=(
            "How often each model answers each sample under each arm that does not say so itself (its own "
            "`repeats`)."
        ),
    )
    concurrency: int = Field(
        default=64, ge=1, le=5000, description="Trials that a worker runs at the same time."
    )
    preflight: bool = Field(
        default=True,
        description=(
            "Whether each model gets a tiny call or two before the first trial, to find a refused key early."
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
        description="Plug-ins of others that the job uses, by `KIND/NAME`, set when the job is frozen.",
    )
    servers: dict[str, ToolServer] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description=(
            "Servers whose tools arms have, by name; one that is written among an arm's tools is moved "
            "here when the job is frozen."
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
        """The benchmark's plug-in, for what this spec selects, or files with its columns and scorer."""
        plugin = BENCHMARKS.get(self.benchmark)
        if isinstance(plugin, ServesBySelect):
            return plugin.selecting(self.select)
        if isinstance(plugin, ReadsOwnFiles) and (self.columns or self.scorer is not None):
            return plugin.reading(self.columns, self.scorer)
        return plugin

    def decoding_of(self, task: str) -> Decoding:
        """How replies to a question of that task are drawn, where a model's own entry leaves it open."""
        by_task = self.decoding or {}
        return by_task.get(task) or by_task.get(EVERY_TASK) or NO_DECODING

    def repeats_of(self, arm: str) -> int:
        """How often each model answers each sample under the arm; as often as the job says of one unknown."""
        return next((each.repeats for each in self.arms if each.name == arm and each.repeats), self.repeats)

    @property
    def repeats_by_arm(self) -> Mapping[str, int]:
        return {arm.name: arm.repeats or self.repeats for arm in self.arms}

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
        from gnomon_tools.servers.tool import server_tool  # late: few jobs have servers

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
