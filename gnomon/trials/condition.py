"""Defines conditions of an arm, which change a trial anywhere from its question to the flags of its row.

Conditions are the modules of `gnomon/conditions`, and plug-ins of others (entry points `gnomon.conditions`).
Most of ours read a field of the arm; others are named under `conditions` of the arm, with their options.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import calls_in_words
from gnomon.core.arm import Arm
from gnomon.core.benchmark import Benchmark
from gnomon.core.message import Message
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.core.tool_inputs import context_of
from gnomon.core.trace import Trace
from gnomon.core.validation import StrictModel
from gnomon.core.words import BOUNDED, KINDS_APART, LATEST_WORDS, TOOLS_FIRST, WordsVersion
from gnomon.trials.donors import Donors
from gnomon.trials.trial_plan import Trial
from gnomon_tools.core.abilities import ability_faults
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.tool import MediaSource, Tool
from gnomon_tools.core.toolbox import BriefToolbox, Toolbox

if TYPE_CHECKING:
    from gnomon.spec.job_spec import JobSpec

Metrics = Mapping[str, float | str | None]


class NoOptions(StrictModel):
    """Options of a condition that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A trial as its conditions see it. `donors` are other samples of the job, for those that need them.

    `conditions` are those of its arm, `of_job` those of all arms. `spec` and `trial` are None where only a
    prompt or a toolbox is looked at, `trial` also where a kept response is scored again.
    """

    arm: Arm
    conditions: "Sequence[Condition]" = ()
    of_job: "Sequence[Condition]" = ()
    benchmark: Benchmark | None = None
    spec: "JobSpec | None" = None
    media: MediaSource | None = None
    trial: Trial | None = None
    seed: int = 0
    donors: Donors | None = None

    @classmethod
    def of(cls, arm: Arm, **fields: Any) -> "Situation":
        """An arm without a job; `fields` are the others."""
        return cls(arm=arm, conditions=conditions_of(arm), **fields)

    @property
    def arms(self) -> Sequence[Arm]:
        """All arms of the job."""
        return (self.arm,) if self.spec is None else self.spec.arms

    @property
    def words(self) -> WordsVersion:
        """The version of the words that prompts are written in."""
        return LATEST_WORDS if self.spec is None else self.spec.words

    def options(self, condition: "Condition") -> Any:
        """The options that the arm gives a condition, as an object of its `options`."""
        return condition.options.model_validate(self.arm.conditions[condition.name])


class Condition:
    """Base of conditions: one that changes nothing.

    A subclass overrides what it changes. `order` is its place among the others, 0 to 100; what answers calls
    anew comes before 50, what wraps a toolbox after. One that `needs_donors` has other samples drawn for it.
    """

    name: str = ""
    description: str = ""
    options: type[StrictModel] = NoOptions
    order: int = 50
    looks_at_all_arms: bool = False  # `on_score` and `flags` are asked for arms beside those under it

    def is_of(self, arm: Arm) -> bool:
        """Whether the arm is under it."""
        return self.name in arm.conditions

    def needs_donors(self, arm: Arm) -> bool:  # noqa: ARG002
        """Whether a trial of the arm needs other samples."""
        return False

    def on_sample(self, sample: Sample, now: Situation) -> Sample:  # noqa: ARG002
        """The question that is asked.

        Raises:
            DataError: it cannot be asked so.
        """
        return sample

    def on_prompt(self, messages: list[Message], sample: Sample, now: Situation) -> list[Message]:  # noqa: ARG002
        """The messages that the agent starts from."""
        return messages

    def on_toolbox(self, toolbox: Toolbox, sample: Sample, now: Situation) -> Toolbox:  # noqa: ARG002
        """The tools, which may answer otherwise."""
        return toolbox

    def as_shown(self, toolbox: Toolbox, now: Situation) -> Toolbox:  # noqa: ARG002
        """The tools as the model sees them: other names, another order."""
        return toolbox

    def read_off(self, response: str, sample: Sample, now: Situation) -> tuple[str, Metrics]:  # noqa: ARG002
        """What of the response is scored, and metrics that were read off the rest."""
        return response, {}

    def on_score(self, score: Score, sample: Sample, response: str, now: Situation) -> Score:  # noqa: ARG002
        """The score with metrics of the condition."""
        return score

    def flags(self, trace: Trace, now: Situation) -> Iterable[str]:  # noqa: ARG002
        """Flags of the row."""
        return ()


CONDITIONS: Registry[Condition] = Registry(
    "gnomon.conditions",
    "condition",
    dashes=False,
    group="gnomon.conditions",
    accepts=lambda item: isinstance(item, Condition),
    check=lambda item: "; ".join(ability_faults(item, Condition)),
)


@functools.cache
def _own() -> tuple[Condition, ...]:
    return CONDITIONS.own()


def conditions_of(*arms: Arm) -> list[Condition]:
    """The conditions that one of the arms is under, in their order.

    >>> [condition.name for condition in conditions_of(Arm(name="a", agent="react", results="neutral"))]
    ['results', 'wording']
    """
    by_name = {condition.name: condition for condition in _own()}
    by_name |= {name: CONDITIONS.get(name) for arm in arms for name in arm.conditions}
    of_arms = [condition for condition in by_name.values() if any(condition.is_of(arm) for arm in arms)]
    return sorted(of_arms, key=lambda condition: (condition.order, condition.name))


def asked(sample: Sample, now: Situation) -> Sample:
    """The sample as the arm asks it."""
    for condition in now.conditions:
        sample = condition.on_sample(sample, now)
    return sample


def prompt_of(sample: Sample, now: Situation, *, videos: bool = False) -> list[Message]:
    """The messages that every agent starts from; the sample's own prompt stays as it is. A model that takes
    `videos` gets them whole, where the sample has them, any other their frames.

    Raises:
        SpecError: the arm shows the true steps, and the benchmark does not know them.
    """
    messages = sample.messages(now.arm.show, videos=videos)
    for condition in now.conditions:
        messages = condition.on_prompt(messages, sample, now)
    return messages


def toolbox_of(sample: Sample, now: Situation, *, tools: tuple[Tool[Any], ...] | None = None) -> Toolbox:
    """The arm's `tools`, by default those of its names that are our own, as far as they fit the sample.

    The seed of `now` is the trial's, so that a trial run again meets the same faults. As all arms and models
    of a sample's repeat have one seed, the same calls are hit in each of them. Its donors answer in place of
    the sample's scene where the arm says so.
    """
    toolbox = Toolbox(now.arm.toolset() if tools is None else tools, context_of(sample, now.media))
    for condition in now.conditions:
        toolbox = condition.on_toolbox(toolbox, sample, now)
    return toolbox


def shown(toolbox: Toolbox, now: Situation) -> Toolbox:
    """The toolbox as the arm shows it; from the third version of the words on with short schemas."""
    for condition in now.conditions:
        toolbox = condition.as_shown(toolbox, now)
    if now.words < TOOLS_FIRST:
        return toolbox
    has_kinds = now.words >= KINDS_APART and not calls_in_words(now.arm)
    return BriefToolbox(toolbox, is_bounded=now.words >= BOUNDED, has_kinds=has_kinds)


def schemas_sent(arm: Arm, spec: "JobSpec", tools: Iterable[Tool[Any]]) -> list[dict[str, Any]]:
    """What a model is sent of these tools under the arm."""
    return shown(Toolbox(tools, None), Situation.of(arm, spec=spec)).schemas


def read_off(response: str, sample: Sample, now: Situation) -> tuple[str, dict[str, float | str | None]]:
    """What of a response is scored, and metrics that were read off the rest."""
    metrics: dict[str, float | str | None] = {}
    for condition in now.conditions:
        response, read = condition.read_off(response, sample, now)
        metrics.update(read)
    return response, metrics


def flags_of(trace: Trace, now: Situation) -> Iterator[str]:
    """Flags of the conditions for a row."""
    for condition in looking_at(now):
        yield from condition.flags(trace, now)


def scored(score: Score, sample: Sample, response: str, now: Situation) -> Score:
    """The score with what the conditions add to it."""
    for condition in looking_at(now):
        score = condition.on_score(score, sample, response, now)
    return score


def looking_at(now: Situation) -> Iterator[Condition]:
    """The conditions of the arm, and those of the job that look at all arms."""
    return (item for item in now.of_job if item.looks_at_all_arms or item in now.conditions)
