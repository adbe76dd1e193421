"""Audits the further families on worlds: whether rules of thumb, times or words give the answer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.clock import day_span
from gnomon.core.option_features import WORDED, OptionTable, worded
from gnomon.core.sample import DataFault, Sample
from gnomon_worlds.families.family import FamilyQuestion
from gnomon_worlds.families.family_numbers import family_number_of
from gnomon_worlds.families.sample_making import FAMILIES

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OF_SIGHTING = re.compile(r"of sighting (\d)")
_OPTION_SIGHTING = re.compile(r"sighting (\d)")
_BOX = re.compile(r"box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)")


def answer_options(sample: Sample) -> AnswerOptions:
    """The options as the prompt letters them."""
    question = sample.target["question"]
    return AnswerOptions(options=question.options, right=(question.right,))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess by each family's rules of thumb, by what is written, and with one step left out."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            question, name, offered = sample.target["question"], sample.ref.sample_id, answer_options(sample)
            for rule, left in question.rules.items():
                yield guess(rule, "floor", protocol, name, left=left, offered=offered)
            for step, left in question.halves.items():
                yield guess(f"half: {step}", "floor", protocol, name, left=left, offered=offered)
            by_size = _by_first_number(offered.options)
            yield guess("smallest number", "floor", protocol, name, left=by_size[:1], offered=offered)
            yield guess("largest number", "floor", protocol, name, left=by_size[-1:], offered=offered)
            heights = [float(height) for text in question.evidence for *_, height in _BOX.findall(text)]
            large = bool(heights) and heights[0] > sum(heights) / len(heights)
            left = [index for index in range(len(offered.options)) if (index % 2 == 0) == large]
            yield guess("size of the first box", "floor", protocol, name, left=left, offered=offered)


def level_of(sample: Sample) -> str | None:
    """How hard the question was to be."""
    return family_number_of(sample.ref.sample_id, FAMILIES).level


def option_tables(samples: Sequence[Sample]) -> Iterator[OptionTable]:
    """What the options' words say, and what times and boxes do."""
    alike: dict[tuple[str, int, int], dict[str, list[list[float]]]] = defaultdict(dict)
    for sample in samples:
        rows = _of_text(sample.target["question"])
        alike[sample.ref.task, len(rows), len(rows[0])][sample.ref.sample_id] = rows
    for (_, _, columns), options in alike.items():
        yield OptionTable(
            sees="by text",
            names=(*WORDED, *(f"times {at}" for at in range(columns - len(WORDED)))),
            sample_ids=tuple(options),
            options=np.array(list(options.values())),
        )


def _of_text(question: FamilyQuestion) -> list[list[float]]:
    """The options' words; which option it is with all times between sightings, and which body is asked about;
    and of an option that is a sighting its time and the heights of its boxes.
    """
    heads = [text.partition("\n")[0] for text in question.evidence]
    times_s = [span for head in heads if (span := day_span(head.rpartition(" ")[2]))]
    gaps_s = [later[0] - before[1] for before, later in pairwise(times_s)]
    bodies = [float(number) for number in _OF_SIGHTING.findall(question.text)]
    of_question = [1.0, *gaps_s, *(bodies[-1:] or [0.0]), times_s[-1][1] - times_s[0][0]]
    heights = [[float(height) for *_, height in _BOX.findall(text)] for text in question.evidence]
    texts = sorted(question.options)
    rows = []
    for option, said in zip(question.options, worded(question.options, question.text), strict=True):
        is_option = [float(option == text) for text in texts]
        sighting = _OPTION_SIGHTING.fullmatch(option)
        at = int(sighting[1]) - 1 if sighting else None
        of_sighting = (
            [0.0] * 4
            if at is None
            else [1.0, times_s[at][0] - times_s[0][1], times_s[at][1] - times_s[at][0], sum(heights[at])]
        )
        rows.append([*said, *(part * value for part in is_option for value in of_question), *of_sighting])
    return rows


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
