"""Lists: all entries alike, their F1 as sets, or how much of their order is kept."""

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from gnomon.benchmarks.questions.scorers.scorer import MAX_KEPT, Scorer, Truth, refuse, wrong
from gnomon.core.score import Score
from gnomon.core.words import closing
from gnomon.reading.characters import bare
from gnomon.reading.texts import entries_in, read_entries, texts_of

MAX_ENTRIES = 500


class EntriesScorer(Scorer):
    """Several texts; case, spaces and punctuation around each do not count."""

    def truth(self, answer: object) -> Truth:
        """A list of texts, also as JSON, or one text with its entries parted by `;`, `→` or commas."""
        texts = texts_of(answer) if isinstance(answer, list) else entries_in(str(answer))
        if not texts or len(texts) > MAX_ENTRIES or not all(bare(text) for text in texts):
            raise refuse(answer, f"a list of up to {MAX_ENTRIES} texts")
        self._check(texts)
        return Truth(value=tuple(bare(text) for text in texts), text=", ".join(texts))

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (how many are right is not said)
        return closing('["…", "…"]', self._what())

    def reply(self, truth: Truth) -> str:
        return json.dumps(truth.value, ensure_ascii=False)

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_entries(response)
        if reading.value is None:
            return reading.nothing()
        texts = reading.value
        entries = [bare(text) for text in texts[: MAX_ENTRIES + 1]]
        if len(entries) > MAX_ENTRIES:
            return wrong("too_many_entries")
        kept = json.dumps(texts, ensure_ascii=False)[:MAX_KEPT]
        exact = float(self._same(entries, truth.value))
        return Score(
            value=self._value(entries, truth.value),
            answer=kept,
            metrics={"exact": exact},
            read_by=reading.read_by,
        )

    @abstractmethod
    def _what(self) -> str: ...

    @abstractmethod
    def _same(self, entries: Sequence[str], right: Sequence[str]) -> bool: ...

    @abstractmethod
    def _value(self, entries: Sequence[str], right: Sequence[str]) -> float: ...

    def _check(self, texts: Sequence[str]) -> None:
        """Refuse entries that the scorer could not tell apart."""


class ListScorer(EntriesScorer):
    """The same entries, each as often, in any order; all or nothing."""

    kind: ClassVar[str] = "list"

    def right(self, truth: Truth) -> tuple[str, ...]:
        return (str(sorted(truth.value)),)

    def _what(self) -> str:
        return "the complete list"

    def _same(self, entries: Sequence[str], right: Sequence[str]) -> bool:
        return Counter(entries) == Counter(right)

    def _value(self, entries: Sequence[str], right: Sequence[str]) -> float:
        return float(self._same(entries, right))


class SetScorer(EntriesScorer):
    """F1 of the entries: order and repetition do not count, each wrong or lacking entry does."""

    kind: ClassVar[str] = "set"

    def right(self, truth: Truth) -> tuple[str, ...]:
        return (str(sorted(set(truth.value))),)

    def _what(self) -> str:
        return "all that apply"

    def _same(self, entries: Sequence[str], right: Sequence[str]) -> bool:
        return set(entries) == set(right)

    def _value(self, entries: Sequence[str], right: Sequence[str]) -> float:
        both = len(set(entries) & set(right))
        return 2 * both / (len(set(entries)) + len(set(right)))


class OrderedListScorer(EntriesScorer):
    """How much of the order is kept: the longest common subsequence, as F1 of both lengths."""

    kind: ClassVar[str] = "ordered_list"

    def _what(self) -> str:
        return "the list in the right order"

    def _same(self, entries: Sequence[str], right: Sequence[str]) -> bool:
        return list(entries) == list(right)

    def _value(self, entries: Sequence[str], right: Sequence[str]) -> float:
        return 2 * common_subsequence(entries, right) / (len(entries) + len(right))


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence.

    >>> common_subsequence("abcd", "bcad"), common_subsequence("ab", "")
    (3, 0)
    """
    row = [0] * (len(second) + 1)
    for left in first:
        before = 0
        for at, right in enumerate(second, start=1):
            before, row[at] = row[at], before + 1 if left == right else max(row[at], row[at - 1])
    return row[-1]
