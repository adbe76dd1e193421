"""Tries whether numbers, words or usual values give away what is asked about moving cameras."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from gnomon.audit.plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def answer_options(sample: Sample) -> AnswerOptions:
    """The options as the prompt letters them."""
    question = sample.target["question"]
    return AnswerOptions(options=question.options, right=(question.right,))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess by the order of numbers, by what most options share, and by what is usual for such a question."""
    for protocol, protocol_samples in samples.items():
        usual = _usual(protocol_samples)
        for sample in protocol_samples:
            offered, name = answer_options(sample), sample.ref.sample_id
            numbers = numbers_of(offered.options)
            for rule, left in _by_numbers(numbers).items():
                yield guess(rule, "floor", protocol, name, left=left, offered=offered)
            kind = kind_of(sample)
            value = usual.get((kind, name))
            nearest = None
            if value is not None and numbers is not None and numbers.shape[1] == 1:
                nearest = [int(np.abs(numbers[:, 0] - value).argmin())]
            yield guess("usual value", "floor", protocol, name, left=nearest, offered=offered)


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Nothing can be wrong with what is generated."""
    del samples
    return ()


def kind_of(sample: Sample) -> str:
    """What is asked, without names, times and numbers: questions of one kind have values alike."""
    text = sample.target["question"].text
    words = re.sub(r"\bthe (?:\w+ (?:hatchback|saloon|van)|person in the \w+ shirt)\b", "it", text)
    return f"{sample.ref.task} {_NUMBER.sub('#', words)}"


def numbers_of(options: Sequence[str]) -> np.ndarray | None:
    """The numbers of each option as a row; None where the rows differ in length or hold none."""
    rows = [[float(number) for number in _NUMBER.findall(option)] for option in options]
    return np.array(rows) if rows[0] and len({len(row) for row in rows}) == 1 else None


def _by_numbers(numbers: np.ndarray | None) -> dict[str, list[int] | None]:
    """What each rule about the numbers of the options leaves; None where it says nothing."""
    rules: dict[str, list[int] | None] = dict.fromkeys(
        (
            "smallest number",
            "middle number",
            "largest number",
            "smallest amount",
            "most central",
            "closest pair",
        )
    )
    if numbers is None:
        return rules
    if numbers.shape[1] == 1:
        order = np.argsort(numbers[:, 0]).tolist()
        rules |= {"smallest number": order[:1], "largest number": order[-1:]}
        rules["middle number"] = [order[len(order) // 2]]
        rules["smallest amount"] = [int(np.abs(numbers[:, 0]).argmin())]
    apart = (np.abs(numbers[:, None] - numbers[None]) / (numbers.std(axis=0) + 1e-9)).sum(axis=2)
    rules["most central"] = [int(apart.sum(axis=1).argmin())]
    np.fill_diagonal(apart, np.inf)
    rules["closest pair"] = [int(index) for index in np.unravel_index(apart.argmin(), apart.shape)]
    return rules


def _usual(samples: Sequence[Sample]) -> dict[tuple[str, str], float]:
    """By kind and sample: the median of the right numbers of all other samples of that kind."""
    right: dict[str, dict[str, float]] = {}
    for sample in samples:
        options = answer_options(sample)
        numbers = numbers_of(options.options)
        if numbers is not None and numbers.shape[1] == 1:
            value = float(numbers[options.right[0], 0])
            right.setdefault(kind_of(sample), {})[sample.ref.sample_id] = value
    return {
        (kind, name): float(np.median([value for other, value in values.items() if other != name]))
        for kind, values in right.items()
        for name in values
        if len(values) > 1
    }
