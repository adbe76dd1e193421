"""Audits the further families on worlds: whether rules of thumb, times or words give the answer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon.audit.plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_BOX = re.compile(r"box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)")


def answer_options(sample: Sample) -> AnswerOptions:
    """The options as the prompt letters them."""
    question = sample.target["question"]
    return AnswerOptions(options=question.options, right=(question.right,))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess by each family's rules of thumb, by the numbers of the options, and by the sizes of boxes."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            question, name, offered = sample.target["question"], sample.ref.sample_id, answer_options(sample)
            for rule, left in question.rules.items():
                yield guess(rule, "floor", protocol, name, left=left, offered=offered)
            by_size = _by_first_number(offered.options)
            yield guess("smallest number", "floor", protocol, name, left=by_size[:1], offered=offered)
            yield guess("largest number", "floor", protocol, name, left=by_size[-1:], offered=offered)
            large = _large_boxes(question.evidence)
            left = [index for index in range(len(offered.options)) if (index % 2 == 0) == large]
            yield guess("size of the first box", "floor", protocol, name, left=left, offered=offered)


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Nothing can be wrong with what is generated."""
    del samples
    return ()


def _by_first_number(options: Sequence[str]) -> list[int]:
    """The options that hold a number, by the first one; none where one holds no number."""
    numbers = [_NUMBER.search(option) for option in options]
    if any(number is None for number in numbers):
        return []
    return sorted(range(len(options)), key=lambda index: float(_NUMBER.findall(options[index])[0]))


def _large_boxes(evidence: Sequence[str]) -> bool:
    heights = [float(height) for text in evidence for *_, height in _BOX.findall(text)]
    return bool(heights) and heights[0] > sum(heights) / len(heights)
