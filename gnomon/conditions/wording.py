"""Words a question's instructions otherwise, by rule; question, options and what is asked for stay."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, Protocol, runtime_checkable

from gnomon.core.arm import Arm, Wording
from gnomon.core.benchmark import Benchmark
from gnomon.core.sample import Part, Sample
from gnomon.core.words import (
    FIRST_WORDS,
    JSON_ENDS,
    LATEST_WORDS,
    WordsVersion,
    asking_for_json_only,
    reworded,
)
from gnomon.trials.condition import Condition, Situation

# Before the task, or after it: safe with any benchmark, as the task's own words stay.
FRAMES: Mapping[Literal["plain", "formal"], str] = {
    "plain": "Here is a task. Read all of it, then answer in the form that it asks for.",
    "formal": (
        "The following task is submitted for your consideration. You are requested to examine it in its"
        " entirety and to respond in the form that it prescribes."
    ),
}
LAST = "The above is one task. Answer it in the form that it asks for."


@runtime_checkable
class HasWordings(Protocol):
    """Can word its instructions otherwise.

    Arms with another `wording` then get the benchmark's own; without it a sentence without content stands
    before or after the task.

    Example: `worded` of `worlds` asks for the same JSON object in other words.
    """

    def worded(self, sample: Sample, wording: str) -> Sample | None:
        """The sample in that wording, with the same question, options and answer form; None: it has none."""
        ...


def worded(
    sample: Sample, wording: Wording, benchmark: Benchmark, *, words: WordsVersion = LATEST_WORDS
) -> Sample:
    """The sample with its instructions in these words; those of a benchmark that offers them are its own.

    For others a sentence without content stands before the task, or after it where that is `reordered`. The
    closing sentence is that of the job's version of `words`, unless the arm has another.
    """
    if words < JSON_ENDS:
        sample = _rewritten(sample, asking_for_json_only)
    match wording:
        case "first_words" | "last_line" | "end_json" | "when_json":
            return _rewritten(sample, lambda text: reworded(text, wording))
    if words == FIRST_WORDS:
        sample = _rewritten(sample, lambda text: reworded(text, "first_words"))
    if wording == "original":
        return sample
    if isinstance(benchmark, HasWordings) and (own := benchmark.worded(sample, wording)) is not None:
        return own
    if wording == "reordered":
        return replace(sample, parts=(*sample.parts, Part(content=LAST)))
    return replace(sample, parts=(Part(content=FRAMES[wording]), *sample.parts))


def _rewritten(sample: Sample, rewrite: Callable[[str], str]) -> Sample:
    parts = [
        replace(part, content=rewrite(part.content)) if isinstance(part.content, str) else part
        for part in sample.parts
    ]
    return replace(sample, parts=tuple(parts))


class WordingCondition(Condition):
    """Words the instructions as the arm says, and the closing sentence as the job's version of the words."""

    name = "wording"
    description = "words the question's instructions otherwise"

    def is_of(self, arm: Arm) -> bool:  # noqa: ARG002
        """Every arm: those of jobs from before have the words of then."""
        return True

    def on_sample(self, sample: Sample, now: Situation) -> Sample:
        if now.benchmark is None:
            return sample
        return worded(sample, now.arm.wording, now.benchmark, words=now.words)


wording = WordingCondition()
