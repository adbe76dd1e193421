"""Job spec: what a user writes, checked once and then trusted."""

from collections import Counter
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from gnomon.contrast import Contrast
from gnomon.core.arm import Arm
from gnomon.core.benchmark import (
    BENCHMARKS,
    Benchmark,
    OfficialScenes,
    PromptProtocol,
    Select,
    SupportsOptions,
    Varied,
)
from gnomon.core.errors import SpecError
from gnomon.core.model import is_built_in, provider_in
from gnomon.core.retry import DEFAULT_RETRY, RetryPolicy, is_default
from gnomon.core.validation import StrictModel
from gnomon.labels import check_labels
from gnomon.oracle import HasOracle
from gnomon.rate import Rate
from gnomon.spec.analysis_spec import AnalysisSpec
from gnomon.spec.arm_spec import ArmSpec
from gnomon.spec.decoding import EVERY_TASK, NO_DECODING, Decoding, decoding_of
from gnomon.spec.preset import expand_preset
from gnomon.spec.size import check_pairings, check_sizes
from gnomon.spec_fault import first_validation_error
from tools.core.registry import UnknownPlugin
from tools.core.toolbox import TOOLS

ReasoningHistory = Literal["auto", "all", "last", "none"]


class Price(StrictModel):
    """Dollars for a million tokens; a part left out costs as much as what it is part of."""

    input: float = Field(ge=0, le=1e6)
    output: float = Field(ge=0, le=1e6)
    cached_input: float | None = Field(default=None, ge=0, le=1e6)  # read from the provider's prompt cache
    cache_write: float | None = Field(default=None, ge=0, le=1e6)
    reasoning: float | None = Field(default=None, ge=0, le=1e6)


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
    pictures: bool = True  # false: it takes text only, and is told where a picture was left out
    rate: Rate | None = None  # stricter than the operator's, if it is to mean anything
    client: Literal["auto", "direct", "litellm"] = "auto"  # who carries its calls
    reasoning_history: ReasoningHistory = "auto"  # which of its turns go back to it with their reasoning
    prompt_cache: Literal["auto", "off"] = "auto"  # marks for providers that keep a prefix only where told
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


class SelectSpec(StrictModel):
    """Which samples."""

    tasks: list[str] = Field(default_factory=list)
    scenes: list[str] = Field(default_factory=list)
    limit: int | None = Field(default=None, gt=0, le=10_000_000)
    seed: int = Field(default=0, ge=0, lt=2**63)
    request: dict[str, Any] | None = None  # itinerary: one planning request instead of generated tasks
    frames: int | None = Field(default=None, gt=0, le=1024)  # of a clip, instead of the protocol's number
    fps: float | None = Field(default=None, gt=0, le=60)  # or so many frames a second of the clip
    language: Literal["en", "ja"] | None = None  # of the prompt, where there are several
    together: bool = False  # all questions of a clip in one prompt, where the paper asked so

    @model_validator(mode="after")
    def _frames_or_fps(self) -> Self:
        if self.frames is not None and self.fps is not None:
            raise ValueError("frames: either `frames` or `fps`, not both")
        return self


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
    select: SelectSpec = SelectSpec()
    protocol: PromptProtocol = "guarded"
    decoding: dict[str, Decoding] | None = None  # by task or `all`; None: as the protocol sets it
    scoring: Literal["official", "strict"] = "strict"
    variant: str | None = None
    models: list[ModelSpec] = Field(min_length=1)
    arms: list[ArmSpec] = Field(min_length=1)
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

    def plugin(self) -> Benchmark:
        """The benchmark's plug-in."""
        return BENCHMARKS.get(self.benchmark)

    def selection(self) -> Select:
        """The kernel's form of `select`."""
        given = self.select
        return Select(
            tasks=tuple(given.tasks),
            scenes=tuple(given.scenes),
            limit=given.limit,
            seed=given.seed,
            request=given.request,
            frames=given.frames,
            fps=given.fps,
            language=given.language,
            together=given.together,
        )

    def decoding_of(self, task: str) -> Decoding:
        """How replies to a question of that task are drawn, where a model's own entry leaves it open."""
        given = self.decoding or {}
        return given.get(task) or given.get(EVERY_TASK) or NO_DECODING

    def contrasts(self) -> tuple[Contrast, ...]:
        """Which arms are compared, primary contrasts first."""
        return self.analysis.planned([arm.name for arm in self.arms])

    def arm(self, name: str) -> Arm:
        """The arm called `name`.

        Raises:
            SpecError: there is none; the message lists those there are.
        """
        for arm in self.arms:
            if arm.name == name:
                return arm.arm()
        raise SpecError(
            f"no arm {name!r}; there are: {', '.join(arm.name for arm in self.arms)}", field="arm"
        )

    def model(self, label: str) -> ModelSpec:
        """The model whose label is `label`.

        Raises:
            SpecError: there is none.
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


def parse_spec(given: object, *, agents: tuple[str, ...]) -> JobSpec:
    """Check a spec that came from outside; `agents` are the names of the agents there are.

    Raises:
        SpecError: names the field, what it holds and what is allowed.
    """
    if isinstance(given, dict):
        check_sizes(given)
        if isinstance(given.get("arms"), dict):
            given = expand_preset(given)
    try:
        spec = JobSpec.model_validate(given)
    except ValidationError as error:
        raise first_validation_error(error, JobSpec) from None
    check_labels(spec)
    check_pairings(spec)
    _check_names(spec, agents)
    frozen: dict[str, Any] = {"arms": [_frozen(arm, at) for at, arm in enumerate(spec.arms)]}
    if spec.decoding is None:
        frozen["decoding"] = decoding_of(spec.plugin(), spec.protocol)
    plugin = spec.plugin()
    if spec.protocol == "official" and not spec.select.scenes and isinstance(plugin, OfficialScenes):
        frozen["select"] = spec.select.model_copy(update={"scenes": list(plugin.official_scenes)})
    return spec.model_copy(update=frozen)


def _frozen(arm: ArmSpec, at: int) -> ArmSpec:
    try:
        return arm.frozen()
    except SpecError as error:
        raise SpecError(error.message, field=f"arms.{at}.{error.field}") from None


def _check_names(spec: JobSpec, agents: tuple[str, ...]) -> None:
    try:
        plugin = spec.plugin()
    except UnknownPlugin as error:
        raise SpecError(str(error), field="benchmark") from None
    if plugin.needs_data and not spec.data:
        raise SpecError(f"{spec.benchmark} needs the folder of its published files", field="data")
    if spec.select.request is not None and spec.benchmark != "itinerary":
        raise SpecError("only the benchmark itinerary plans requests", field="select.request")
    _check_variations(spec, plugin)
    arms = tuple(arm.name for arm in spec.arms)
    for field, given, known in (
        ("decoding", list(spec.decoding or ()), (EVERY_TASK, *plugin.tasks)),
        ("select.tasks", spec.select.tasks, plugin.tasks),
        ("select.scenes", spec.select.scenes, plugin.scenes),
        ("variant", [spec.variant] if spec.variant else [], plugin.variants),
        *((field, named, arms) for field, named in spec.analysis.named_arms().items()),
    ):
        for name in given:
            if name not in known:
                raise SpecError(f"no {name!r}; allowed: {', '.join(known) or 'nothing'}", field=field)
    for index, arm in enumerate(spec.arms):
        if arm.agent not in agents:
            raise SpecError(
                f"no agent {arm.agent!r}; there are: {', '.join(agents)}", field=f"arms.{index}.agent"
            )
        if "oracle" in arm.show and not isinstance(plugin, HasOracle):
            message = f"{spec.benchmark} does not know the truth of intermediate steps: no oracle to show"
            raise SpecError(message, field=f"arms.{index}.show")
        for name in arm.tools if isinstance(arm.tools, list) else ():
            if name not in TOOLS.names():
                message = f"no tool {name!r}; there are: {', '.join(TOOLS.names())}"
                raise SpecError(message, field=f"arms.{index}.tools")


def _check_variations(spec: JobSpec, plugin: Benchmark) -> None:
    varies: frozenset[Varied] = plugin.options if isinstance(plugin, SupportsOptions) else frozenset()
    if spec.protocol == "paper" and "paper" not in varies:
        message = f"{spec.benchmark} has no prompt of its paper's own; allowed: official, guarded"
        raise SpecError(message, field="protocol")
    for name in ("frames", "fps", "language", "together"):
        if getattr(spec.select, name) and name not in varies:
            allowed = ", ".join(sorted(varies - {"paper"})) or "none of its kind"
            message = f"{spec.benchmark} has no {name} to choose; allowed: {allowed}"
            raise SpecError(message, field=f"select.{name}")
    if spec.select.together and spec.protocol != "paper":
        raise SpecError(f"only `protocol: paper` asks so, not {spec.protocol}", field="select.together")
