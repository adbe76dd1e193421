"""A question as it was read from the file, with its place in the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.benchmarks.questions.pictures import Source
from gnomon.benchmarks.questions.scorers.option import choice
from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Sample, SampleRef
from gnomon.media.clip_samples import ClipQuestion, with_shuffled_options


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuestion(ClipQuestion):
    """A question with all that its row holds; `clip` is empty where there is none, `gold` without options."""

    scorer: Scorer
    answer: Truth | None = None  # None where it is an option
    context: str = ""
    pictures: tuple[Source, ...] = ()
    scene_source: Mapping[str, Any] | str | None = None
    cluster: str = ""
    tags: tuple[str, ...] = ()
    rubric: str = ""
    reply: str = ""  # that people have judged
    label: bool | None = None  # whether they say that it is right

    @property
    def truth(self) -> Truth:
        """What is right, of the options as they are lettered in this question."""
        return self.answer or choice(self.options, self.gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The part of a question that is kept in memory: its names and where its row lies."""

    ref: SampleRef
    at: tuple[int, int]
    number: int
    has_options: bool
    needs_judge: bool
    tags: tuple[str, ...] = ()


def displayed(question: OwnQuestion, protocol: PromptProtocol) -> OwnQuestion:
    """The question with its options as that protocol letters them: `official` keeps the file's order."""
    return with_shuffled_options(question, question.text) if protocol == "guarded" else question


def displayed_in(sample: Sample) -> OwnQuestion:
    """The question as the sample's prompt shows it."""
    return displayed(sample.target["question"], sample.target["protocol"])
