"""An arm is one condition of the ablation; a contrast is two arms and what is meant to differ between them.

A spec holds these models as its fields, and a trial reads them as they are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetPydanticSchema,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core.core_schema import no_info_after_validator_function

from gnomon.core.message import ToolChoice
from gnomon.core.outside_agent import AnyAgent, OutsideAgent
from gnomon.core.sample import SHOWABLE, Shown, Transform
from gnomon.core.validation import AS_LIST, StrictModel
from gnomon.core.words import Closing
from gnomon_tools.core.tool import Tool, contract_hash
from gnomon_tools.core.toolbox import TOOLS

Results = Literal["live", "neutral", "other_scene"]
Wording = Literal["original", "plain", "formal", "reordered", Closing]
ToolNaming = Literal["original", "renamed"]
ToolOrder = Literal["by_name", "reversed", "shuffled"]
FaultKind = Literal["explicit", "silent"]
Lasting = Literal["transient", "permanent"]
MAX_INSTRUCTIONS = 10_000  # characters
ReplayedResult = Literal["recorded", "truth", "noise", "other_sample", "nothing"]


def _is(default: object) -> Callable[[object], bool]:
    """Whether a value is the default: such fields are left out, so that hashes of older specs stay."""
    return lambda value: value == default


def _tool_names(written: str | list[str]) -> tuple[str, ...]:
    """`all` and `none` spelled out; a list in the order of names, each name once."""
    if isinstance(written, str):
        return TOOLS.working_names() if written == "all" else ()
    return tuple(sorted(set(written)))


# Read like the union, whose messages and JSON schema it keeps; held as names.
ToolNames = Annotated[
    tuple[str, ...],
    GetPydanticSchema(
        lambda _, read: no_info_after_validator_function(
            _tool_names, read(Literal["all", "none"] | list[str])
        )
    ),
]


class Faults(StrictModel):
    """Tools that fail on purpose."""

    model_config = ConfigDict(title="FaultsSpec")  # its name in the OpenAPI document

    kind: FaultKind = Field(
        description=(
            "`explicit`: errors that the model can read; `silent`: plausible results about the wrong "
            "cameras and places, or with a wrong scale and a wrong north."
        )
    )
    lasting: Lasting = Field(
        default="transient",
        description=(
            "`transient`: each call fails or not anew; `permanent`: a tool is broken for the whole trial, "
            "or not at all."
        ),
    )
    rate: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="Share of the calls that fail, or the chance of each tool to be broken; 0.3 is 30 %.",
    )


class Replay(StrictModel):
    """Trials that repeat those of a stored job up to one call of a tool, and go on live from its result."""

    model_config = ConfigDict(title="ReplaySpec")

    job: str = Field(min_length=1, max_length=40, description="Id of the job whose traces are replayed.")
    arm: str = Field(description="Name of the arm of that job whose traces are replayed.")
    result: ReplayedResult = Field(
        default="recorded",
        description=(
            "What the call returns this time: `recorded`, what it did then; `truth`, what the tool "
            "returns when nothing is made to fail; `noise`, a plausible and wrong result; `other_sample`, "
            "that of another sample; `nothing`, that nothing is known."
        ),
    )
    tool: str | None = Field(
        default=None, description="The tool of which one call is chosen; null: any tool that was called."
    )


class CassetteUse(StrictModel):
    """A file that calls of tool servers are recorded in, or answered from."""

    model_config = ConfigDict(title="CassetteSpec")

    record: str | None = Field(
        default=None,
        max_length=4_096,
        exclude_if=_is(None),
        description="File that the calls are written to at the end of `gnomon run`; null: none.",
    )
    replay: str | None = Field(
        default=None,
        max_length=4_096,
        exclude_if=_is(None),
        description="File that answers all calls of servers, none of which is started; null: none.",
    )
    sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{64}$",
        exclude_if=_is(None),
        description="Hash of the replayed file, set when the job is frozen; null: not yet.",
    )

    @model_validator(mode="after")
    def _is_one(self) -> "CassetteUse":
        if (self.record is None) == (self.replay is None):
            raise ValueError("needs record or replay, and one of them alone")
        if self.sha256 is not None and self.replay is None:
            raise ValueError("sha256 belongs to replay")
        return self


class Arm(StrictModel):
    """Agent, tools, limits, what the prompt shows, and what is perturbed."""

    model_config = ConfigDict(title="ArmSpec")

    name: str = Field(
        min_length=1,
        max_length=80,
        description="What rows and reports call the arm, unique in the job; 1 to 80 characters.",
    )
    agent: AnyAgent = Field(
        description=(
            "Name of the agent, such as `direct` (one call) or `react` (calls tools until it answers); or "
            "an agent from outside, such as `{http: URL}`."
        )
    )
    tools: ToolNames = Field(
        default=(),
        json_schema_extra={"default": "none"},
        description="Names of the tools that the model is offered, `all` of them, or `none`.",
    )
    tool_choice: ToolChoice = Field(
        default="auto",
        description=(
            "`auto`: the model may call tools; `required`: it must call one before it answers; `none`: it "
            "sees tools and may not call them."
        ),
    )
    max_turns: int = Field(default=24, ge=1, le=1000, description="The most calls of the model in a trial.")
    max_tool_calls: int = Field(
        default=12, ge=0, le=1000, description="The most calls of tools in a trial; 0: none may be called."
    )
    max_tokens: int | None = Field(
        default=None,
        gt=0,
        description="Prompt and completion tokens of a trial, over all its calls; null: no limit.",
    )
    max_usd: float | None = Field(
        default=None, gt=0, description="Dollars that a trial may cost; null: no limit."
    )
    show: Annotated[tuple[Shown, ...], AS_LIST] = Field(
        default_factory=lambda: SHOWABLE,
        description=(
            "What the prompt shows beside the question: `media` (pictures and clips), `map`, "
            "`camera_data`, `facts` (what tools hold) or `oracle` (the true steps); by default the first "
            "three."
        ),
    )
    results: Results = Field(
        default="live",
        description=(
            "`live`: what tools return; `neutral`: calls are checked, but every result says that nothing "
            "is known; `other_scene`: results of another sample's scene under the names of this one's, a "
            "placebo that looks like live tools."
        ),
    )
    faults: Faults | None = Field(default=None, description="Makes tools fail on purpose; null: they do not.")
    replay: Replay | None = Field(
        default=None,
        exclude_if=_is(None),
        description=(
            "Repeats the trials of a stored job's arm up to one call, chosen by the trial's seed, and "
            "goes on from there; null: they begin at their start."
        ),
    )
    transform: Transform | None = Field(
        default=None,
        exclude_if=_is(None),
        description=(
            "Asks the same question in another guise, whose right answer changes exactly so: `rotate`, "
            "`mirror`, `shift_time`, `rename`, `permute_options` or `change_units`; null: as it is."
        ),
    )
    wording: Wording = Field(
        default="original",
        exclude_if=_is("original"),
        description=(
            "How the question's instructions are worded: `original`, or the same in `plain` or `formal` "
            "words, or `reordered`; or only their last sentence: `first_words`, `last_line`, `end_json` or "
            "`when_json`. Question, options and what is asked for stay."
        ),
    )
    instructions: str = Field(
        default="",
        max_length=MAX_INSTRUCTIONS,
        exclude_if=_is(""),
        description="A text of yours that stands before the question; up to 10,000 characters.",
    )
    tool_names: ToolNaming = Field(
        default="original",
        exclude_if=_is("original"),
        description=(
            "What tools are called before the model: `original`, or `renamed` to a synonym that the tool "
            "gives, else to a number."
        ),
    )
    tool_order: ToolOrder = Field(
        default="by_name",
        exclude_if=_is("by_name"),
        description="Order of the tools: `by_name`, `reversed`, or `shuffled` by the trial's seed.",
    )
    repeats: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        exclude_if=_is(None),
        description=(
            "How often each model answers each sample under this arm; null: as the job's `repeats` says."
        ),
    )
    confidence: bool = Field(
        default=False,
        exclude_if=_is(False),
        description=(
            "Whether the model is asked for a last line `Confidence: NN`, which is read off before the "
            "answer is scored and kept as the metric `confidence`."
        ),
    )
    cassette: CassetteUse | None = Field(
        default=None,
        exclude_if=_is(None),
        description=(
            "Records the calls of tool servers in a file, or answers them from one, which needs no server "
            "and no network; null: servers are called."
        ),
    )
    conditions: Mapping[str, dict[str, Any]] = Field(
        default_factory=dict,
        exclude_if=_is({}),
        description=(
            "Conditions of plug-ins that the arm is under, by name, each with its options; those of Gnomon "
            "itself are the fields above."
        ),
    )
    contract: str = Field(
        default="",
        description=(
            "Hash of the tools' names, schemas and descriptions, set when the job is frozen; written by "
            "hand, it demands these very tools."
        ),
    )

    @field_serializer("tools")
    def _tools_as_stored(self, tools: tuple[str, ...]) -> Any:
        # Jobs that were run elsewhere are stored without being frozen: their hashes hold the word.
        return tools if tools or self.contract else "none"

    @property
    def outside(self) -> OutsideAgent | None:
        """The agent from outside that answers; None: one of ours does."""
        return self.agent if isinstance(self.agent, OutsideAgent) else None

    @property
    def agent_label(self) -> str:
        """What pages and reports call its agent.

        >>> Arm(name="a", agent="react").agent_label
        'react'
        >>> Arm(name="b", agent={"command": ["./agent"]}).agent_label
        'command ./agent'
        """
        return self.agent.label if isinstance(self.agent, OutsideAgent) else self.agent

    def toolset(self) -> tuple[Tool[Any], ...]:
        """The arm's tools, in the order of their names."""
        return _toolset(self.tools)

    @property
    def toolset_hash(self) -> str:
        """Hash of what the model is offered: names, schemas and descriptions of the tools."""
        return _toolset_hash(self.tools)

    def frozen(self, contract: str) -> "Arm":
        """The same with the contract of its tools, so that a later version of them is noticed."""
        return self.model_copy(update={"contract": contract})


@lru_cache(maxsize=1024)
def _toolset(names: tuple[str, ...]) -> tuple[Tool[Any], ...]:
    return tuple(TOOLS.get(name) for name in names)


@lru_cache(maxsize=1024)
def _toolset_hash(names: tuple[str, ...]) -> str:
    return contract_hash(_toolset(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field in which two arms differ, with its value in each as plain data."""

    field: str
    baseline: Any
    variant: Any


# Where a server's results come from is no factor: they are the same results. Nor is how often one asks.
FACTORS = tuple(name for name in Arm.model_fields if name not in ("name", "contract", "cassette", "repeats"))
# Where no factor is named: an arm with tools needs all of these.
TREATMENT = ("agent", "tools", "tool_choice", "max_turns", "max_tool_calls", "results")


def diff(baseline: Arm, variant: Arm) -> tuple[Difference, ...]:
    """Everything but the name in which two arms differ, without regard to the order of tools and of what is
    shown.

    `contract` is among the fields where the same tools were frozen with other schemas or descriptions.
    """
    left, right = _factors(baseline), _factors(variant)
    differing = [
        Difference(field=name, baseline=left[name], variant=right[name])
        for name in FACTORS
        if left[name] != right[name]
    ]
    contracts = (baseline.contract, variant.contract)
    if baseline.tools == variant.tools and all(contracts) and contracts[0] != contracts[1]:
        differing.append(Difference(field="contract", baseline=contracts[0], variant=contracts[1]))
    return tuple(differing)


def differences(baseline: Arm, variant: Arm) -> list[str]:
    """The names of the fields of `diff`.

    >>> differences(Arm(name="a", agent="direct"), Arm(name="b", agent="react", tools=()))
    ['agent']
    """
    return [difference.field for difference in diff(baseline, variant)]


def _factors(arm: Arm) -> Mapping[str, Any]:
    return {name: _plain(getattr(arm, name)) for name in FACTORS}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    return sorted(value) if isinstance(value, tuple) else value


class Contrast(StrictModel):
    """Two arms to compare: the variant's score minus the baseline's."""

    model_config = ConfigDict(title="ContrastSpec")

    baseline: str = Field(description="Name of the arm whose score is subtracted.")
    variant: str = Field(description="Name of the arm from whose score the baseline's is subtracted.")
    isolates: str = Field(
        default="",
        max_length=200,
        description="What the difference is the effect of, in words; up to 200 characters.",
    )
    factor: Annotated[tuple[str, ...], AS_LIST] = Field(
        default_factory=tuple,
        description=(
            "Fields of an arm that are meant to differ between the two; empty: agent, tools, their "
            "choice, results and room to call them."
        ),
    )
    primary: bool = Field(
        default=False,
        description="Whether the verdict rests on it; unused where the analysis names its `primary` pair.",
    )

    @field_validator("factor")
    @classmethod
    def _fields_of_an_arm(cls, factor: tuple[str, ...]) -> tuple[str, ...]:
        for name in factor:
            if name not in FACTORS:
                raise ValueError(f"no {name!r}; allowed: {', '.join(FACTORS)}")
        return factor

    def confounds(self, baseline: Arm, variant: Arm) -> tuple[Difference, ...]:
        """What differs between the two arms though the contrast is not about it; best empty.

        Where no factor is named, agent, tools, their choice, results and room to call them belong
        together as the treatment; where the arms differ in one other field alone, that is what is compared.
        """
        differing = diff(baseline, variant)
        if not self.factor and len(differing) == 1:
            return ()
        meant = self.factor or TREATMENT
        return tuple(difference for difference in differing if difference.field not in meant)
