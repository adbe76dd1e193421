"""Audits STI-Bench: its options, and whether their numbers give the answer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample
from gnomon_published.benchmarks.sti_bench.prompt import displayed

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def answer_options(sample: Sample) -> AnswerOptions:
    """The options as the sample's prompt letters them."""
    question = displayed(sample.target["question"], sample.target["protocol"])
    index = list(question.options).index(question.gold)
    return AnswerOptions(options=tuple(question.options.values()), right=(index,))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess the middle number, the outer numbers, and the option whose numbers most others share.

    Wrong options that are made from the right one have numbers around its own, and repeat parts of it.
    """
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            options, name = answer_options(sample), sample.ref.sample_id
            numbers = [[float(number) for number in _NUMBER.findall(option)] for option in options.options]
            middle, outer = _by_size(numbers)
            yield guess("middle number", "floor", protocol, name, left=middle, offered=options)
            yield guess("outermost numbers", "floor", protocol, name, left=outer, offered=options)
            yield guess(
                "numbers most shared", "floor", protocol, name, left=_shared(numbers), offered=options
            )


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Questions about a stretch of time that ends before it begins."""
    for sample in samples:
        question = sample.target["question"]
        if question.start_s is not None and question.end_s is not None and question.start_s >= question.end_s:
            detail = f"asks about {question.start_s:g} s to {question.end_s:g} s"
            yield DataFault(sample_id=sample.ref.sample_id, kind="window", detail=detail)


def _by_size(numbers: Sequence[Sequence[float]]) -> tuple[list[int] | None, list[int] | None]:
    """The middle and the outer options, where each is one number and all differ."""
    if any(len(row) != 1 for row in numbers) or len({row[0] for row in numbers}) < len(numbers):
        return None, None
    order = sorted(range(len(numbers)), key=lambda index: numbers[index][0])
    return [order[len(order) // 2]], [order[0], order[-1]]


def _shared(numbers: Sequence[Sequence[float]]) -> list[int] | None:
    """The options whose numbers most others have at the same place, for options of many numbers."""
    if any(len(row) < 2 for row in numbers) or len({len(row) for row in numbers}) > 1:
        return None
    counts = [
        sum(
            number == other_number
            for other_row in numbers
            for number, other_number in zip(row, other_row, strict=True)
        )
        for row in numbers
    ]
    largest = [index for index, count in enumerate(counts) if count == max(counts)]
    return largest if len(largest) < len(counts) else None
