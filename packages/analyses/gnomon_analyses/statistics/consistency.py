"""How often two answers to the same question agree, and what chance alone would give."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

from scipy.special import stdtrit

from gnomon.statistics.estimate import Ends

Answers = Sequence[Hashable]  # of one sample: one for each repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A difference of two independent differences, with its 95 % interval."""

    value: float
    ci95: tuple[float, float]
    se: float
    df: float


def share_equal(first: Answers, second: Answers) -> float | None:
    """The share of pairs, one answer of each, that are equal; None where a side has none.

    >>> share_equal("AB", "A"), share_equal("", "A")
    (0.5, None)
    """
    if not first or not second:
        return None
    return sum(left == right for left in first for right in second) / (len(first) * len(second))


def share_repeated(answers: Answers) -> float | None:
    """The share of pairs of repeats that are equal; None of fewer than two.

    >>> share_repeated("AAB"), share_repeated("A")
    (0.3333333333333333, None)
    """
    pairs = list(combinations(answers, 2))
    return sum(left == right for left, right in pairs) / len(pairs) if pairs else None


def share_of_strangers(pairs: Sequence[tuple[Answers, Answers]]) -> float:
    """Agreement by chance: how often the first answer to one sample equals the second answer to another.

    What Cohen's (1960) product of margins estimates, without the pairs of a sample with itself, which would
    make it too large in small sets.

    >>> share_of_strangers([("A", "A"), ("B", "B"), ("A", "C")])
    0.16666666666666666
    """
    ours: dict[Hashable, float] = defaultdict(float)
    theirs: dict[Hashable, float] = defaultdict(float)
    own = 0.0
    for first, second in pairs:
        for answer in first:
            ours[answer] += 1 / len(first)
        for answer in second:
            theirs[answer] += 1 / len(second)
        own += share_equal(first, second) or 0.0
    all_pairs = sum(share * theirs.get(answer, 0.0) for answer, share in ours.items())
    return (all_pairs - own) / (len(pairs) * (len(pairs) - 1))


def gap(first: tuple[float, float, float], second: tuple[float, float, float]) -> Gap:
    """First minus second of two independent estimates, each a value, its standard error and its degrees of
    freedom: Student's t with Satterthwaite's degrees of freedom (Welch 1947).

    >>> [round(end, 3) for end in gap((0.2, 0.03, 40.0), (0.05, 0.04, 40.0)).ci95]
    [0.05, 0.25]
    """
    value = first[0] - second[0]
    parts = (first[1] ** 2, second[1] ** 2)
    variance = sum(parts)
    spread = sum(part**2 / df for part, (_, _, df) in zip(parts, (first, second), strict=True))
    df = variance**2 / spread if spread > 0 else min(first[2], second[2])
    half = float(stdtrit(df, 0.975)) * variance**0.5
    return Gap(value=value, ci95=(value - half, value + half), se=variance**0.5, df=float(df))


def gap_of_flat(first: tuple[float, Ends], second: tuple[float, Ends]) -> Ends:
    """The interval of first minus second from theirs, by squares-and-add (Zou and Donner 2008).

    For estimates of which one has no standard error, as all its samples agree: Student's t would be ±0.

    >>> [round(end, 3) for end in gap_of_flat((0.0, (-0.03, 0.03)), (0.0, (-0.04, 0.04)))]
    [-0.05, 0.05]
    """
    (value, (low, high)), (other, (other_low, other_high)) = first, second
    below = ((value - low) ** 2 + (other_high - other) ** 2) ** 0.5
    above = ((high - value) ** 2 + (other - other_low) ** 2) ** 0.5
    return value - other - below, value - other + above
