"""Scores rules that look only at other questions' answers, or at the form of the options."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from gnomon.benchmarks.questions.question import OwnQuestion
from gnomon.benchmarks.questions.scorers.judge import JudgeScorer
from gnomon.benchmarks.questions.scorers.number import NumberScorer
from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth

MOST_COMMON, MEDIAN = "most common other answer", "median of the other answers"
FIRST, LONGEST = "first option", "longest option"


class UsualAnswers:
    """The answers of a file by task and scorer, so that a rule can guess from those of other questions."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, Scorer], Counter[str]] = {}
        self._numbers: dict[tuple[str, Scorer], list[float]] = {}

    def add(self, question: OwnQuestion) -> None:
        """Count the answer of a question without options."""
        truth = question.answer
        if truth is None:
            return
        key = (question.task, question.scorer)
        if isinstance(question.scorer, NumberScorer):
            self._numbers.setdefault(key, []).append(truth.value)
        else:
            self._texts.setdefault(key, Counter())[question.scorer.reply(truth)] += 1

    def done(self) -> None:
        """Make ready to guess."""
        for numbers in self._numbers.values():
            numbers.sort()

    def guess(self, question: OwnQuestion) -> tuple[str, str] | None:
        """A rule's name and its answer; None where no other question of the task is of this kind."""
        truth, key = question.answer, (question.task, question.scorer)
        if truth is None or isinstance(question.scorer, JudgeScorer):  # no rule scores what a rule says
            return None
        if isinstance(question.scorer, NumberScorer):
            median = _median_without(self._numbers.get(key, ()), truth.value)
            if median is None:
                return None
            unit = f" {question.scorer.unit}" if question.scorer.unit else ""
            return MEDIAN, f"Answer: {median:.12g}{unit}"
        return self._most_common(key, question.scorer, truth)

    def _most_common(self, key: tuple[str, Scorer], scorer: Scorer, truth: Truth) -> tuple[str, str] | None:
        counts = self._texts.get(key)
        if counts is None:
            return None
        own = scorer.reply(truth)
        others = [(text, count - (text == own)) for text, count in counts.most_common(2)]
        text, count = max(others, key=lambda other: other[1])
        return (MOST_COMMON, f"Answer: {text}") if count > 0 else None


def _median_without(numbers: Sequence[float], own: float) -> float | None:
    """The lower median of the sorted numbers without one that equals `own`.

    >>> _median_without([1.0, 2.0, 9.0], 2.0), _median_without([1.0], 1.0)
    (1.0, None)
    """
    if len(numbers) < 2:
        return None
    middle = (len(numbers) - 2) // 2
    return numbers[middle + (bisect_left(numbers, own) <= middle)]


def option_floors(options: Mapping[str, str], gold: str) -> Mapping[str, float]:
    """What picking the first option, or one of the longest, scores; the longest only where some are shorter.

    >>> option_floors({"A": "left", "B": "straight on"}, "B")
    {'first option': 0.0, 'longest option': 1.0}
    """
    lengths = {letter: len(text) for letter, text in options.items()}
    longest = [letter for letter, length in lengths.items() if length == max(lengths.values())]
    floors = {FIRST: float(gold == next(iter(options)))}
    if len(longest) < len(options):
        floors[LONGEST] = (gold in longest) / len(longest)
    return floors
