"""Tries whether numbers, words or usual values give away what is asked about moving cameras."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gnomon.core.audit_plugin import ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Sample
from gnomon_worlds.benchmarks.worlds_families.audit import answer_options, case_faults
from gnomon_worlds.families.family_numbers import family_number_of
from gnomon_worlds.motion.flying import AMOUNTS, CHOICES
from gnomon_worlds.motion.sample_making import MOTION_TASKS

__all__ = ["answer_options", "case_faults", "level_of", "try_shortcuts"]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_STEP = re.compile(r"step \d+: ([a-z ]+) (\d+)")
_MOMENT = re.compile(r"(\d+) s after the clip's start")


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess by short ways, by the order of numbers, and by what is usual for such a question.

    Short ways leave out a step of what has to be measured (gnomon_worlds/motion/short_ways.py).
    *Usual value* and *usual rate* know the answers to all other questions of the kind; a rate is a number a
    second of the time asked about. *Usual pace* counts the steps of a route at their usual paces.
    """
    for protocol, protocol_samples in samples.items():
        usual, rates = _usual(protocol_samples), _usual(protocol_samples, seconds_of)
        for sample in protocol_samples:
            offered, name = answer_options(sample), sample.ref.sample_id
            for rule, short in sample.target["question"].rules.items():
                yield guess(f"short way: {rule}", "floor", protocol, name, left=short, offered=offered)
            numbers = numbers_of(offered.options)
            for rule, left in _by_numbers(numbers).items():
                yield guess(rule, "floor", protocol, name, left=left, offered=offered)
            kind = f"{level_of(sample)} {kind_of(sample)} {0 if numbers is None else numbers.shape[1]}"
            value, rate = usual.get((kind, name)), rates.get((kind, name))
            for rule, likely in (
                ("usual value", value),
                ("usual rate", None if rate is None else rate * seconds_of(sample)),
            ):
                nearest = None
                if likely is not None and numbers is not None:
                    spread = numbers.std(axis=0) + 1e-9
                    nearest = [int((np.abs(numbers - likely) / spread).sum(axis=1).argmin())]
                yield guess(rule, "floor", protocol, name, left=nearest, offered=offered)
            step = step_at_usual_pace(sample.target["question"].text)
            paced = [i for i, words in enumerate(offered.options) if words.startswith(f"step {step}:")]
            yield guess("usual pace", "floor", protocol, name, left=paced or None, offered=offered)


def level_of(sample: Sample) -> str | None:
    """How hard the question was to be."""
    return family_number_of(sample.ref.sample_id, MOTION_TASKS).level


def kind_of(sample: Sample) -> str:
    """What is asked, without colours, times and numbers: questions of one kind have values alike."""
    text = sample.target["question"].text
    words = re.sub(r"\bthe (?:\w+ (hatchback|saloon|van)|(person) in the \w+ shirt)\b", r"a \1\2", text)
    words = re.sub(r"(?<=until it is above ).*?(?=\. )", "a place", words)
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


def seconds_of(sample: Sample) -> float:
    """How long the part of the clip is that a question asks about; 1 where it does not say."""
    window_s = sample.target["question"].window_s
    return 1.0 if window_s is None else window_s[1] - window_s[0]


def step_at_usual_pace(text: str) -> int | None:
    """The step of a route that is reached at the moment asked about, at the usual pace of each.

    None where no route and moment are told.
    """
    moment = _MOMENT.search(text)
    steps = _STEP.findall(text)
    if moment is None or not steps:
        return None
    left_s = float(moment[1])
    for number, (does, amount) in enumerate(steps, start=1):
        quantity = next(kind for kinds in CHOICES for kind in kinds if kind.does == does).quantity
        left_s -= float(amount) / (sum(AMOUNTS[quantity]) / 2)
        if left_s < 0:
            return number
    return len(steps)


def _usual(
    samples: Sequence[Sample], per: Callable[[Sample], float] = lambda _: 1.0
) -> dict[tuple[str, str], np.ndarray]:
    """By kind and sample: the median right numbers of all other samples of that kind, divided by `per`."""
    right: dict[str, dict[str, np.ndarray]] = {}
    for sample in samples:
        options = answer_options(sample)
        numbers = numbers_of(options.options)
        if numbers is not None:
            kind = f"{level_of(sample)} {kind_of(sample)} {numbers.shape[1]}"
            right.setdefault(kind, {})[sample.ref.sample_id] = numbers[options.right[0]] / per(sample)
    return {
        (kind, name): np.median([value for other, value in values.items() if other != name], axis=0)
        for kind, values in right.items()
        for name in values
        if len(values) > 1
    }
