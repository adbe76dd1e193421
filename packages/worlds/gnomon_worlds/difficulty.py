"""Sets how hard a question shall be, by drawing whether rules of thumb find its answer."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations
from random import Random
from typing import Literal, Self

from gnomon.core.errors import SpecError
from gnomon.core.select import AS_IT_COMES, LEVELS, Level
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import (
    SAME,
    Evidence,
    Score,
    earliest,
    longest,
    longest_run,
    scores_of,
    taken,
)

FEATURES = (
    "detour",
    "gap_m",
    "gap_s",
    "junctions",
    "turns",
    "cameras_between",
    "closeness",
    "targets",
)
CHANCE = 1 / 4  # every question of GTR-Bench's tasks has four options
# Of questions of which a rule's answer is no matter of chance; so of four options it finds 1, 0.6, 0.25.
SURE: Mapping[str, float] = {"easy": 1.0, "medium": 7 / 15, "hard": 0.0}
# Of questions in other places, what a learner without the map has right (150 a task): worlds.md.
LEARNED: Mapping[str, Mapping[str, float]] = {
    "easy": {"GL": 0.99, "ATI": 1.0, "MS": 0.8, "CR": 1.0, "NSF": 1.0, "TF": 1.0, "MTTF": 1.0},
    "medium": {"GL": 0.83, "ATI": 0.8, "MS": 0.81, "CR": 0.97, "NSF": 0.77, "TF": 0.87, "MTTF": 0.87},
    "hard": dict.fromkeys(("GL", "ATI", "MS", "CR", "NSF"), CHANCE),  # by the way in which they are made
}
TRIED = 300  # sets of wrong options that are looked at
# Rules that have a lot of their own, in ATI a place (PLACED); all others go by straight lines.
APART = ("longest", "earliest", "least turning")
# A rule that tells no options apart obeys any lot. As it is harder to find the right option than to miss it,
# that would mostly happen where it is to find it, and its rate would be below chance.
ALWAYS_TELLS = {("longest", "ATI")}
# By task, in what the right option's place among the four is drawn evenly: else what is written tells it, as
# short and late intervals are met more often than others where straight-line timing is to find the answer.
PLACED: Mapping[str, Mapping[str, Score]] = {
    "MS": {"longest run": longest_run},
    "ATI": {"longest": longest, "earliest": earliest},
}
OPTIONS = 4
# Three of five wrong orders of three cameras, drawn evenly, hold the right one's reverse in 6 of 10. Its tour
# is as long, so a rule that finds both has to guess; it is right in OF_TOUR of those in which it finds them.
REVERSED = 0.6
OF_TOUR = 1 - REVERSED / 2
TOUR = "straight line: shortest tour"
OF_FOUR_MAPS = "hard5"  # hard questions that have four maps, as ids call them
Ranges = Mapping[str, tuple[float, float]]
Wanted = Level | Literal["mixed"] | Ranges | None  # a job's `select.difficulty`
_TAG = re.compile(r"easy|medium|hard|[a-z_]+~[^~]+~[^~]+(?:~[a-z_]+~[^~]+~[^~]+)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """A level, or ranges of measured features: each a name with its lowest and highest value."""

    level: Level | None = None
    ranges: tuple[tuple[str, float, float], ...] = ()
    has_four_maps: bool = False  # of hard questions; if not, rules of thumb alone are at chance in them

    @classmethod
    def of(
        cls,
        wanted: Level | Ranges,
        *,
        features: Sequence[str] = FEATURES,
        has_four_maps: bool = False,
    ) -> Self:
        """Read a job's `select.difficulty`, for questions that have these features; of hard ones, how made.

        Raises:
            SpecError: none is named, a feature has another name, or its range is empty.
        """
        if isinstance(wanted, str):
            return cls(level=wanted, has_four_maps=has_four_maps and wanted == "hard")
        if not wanted:
            message = (
                f"name a level ({', '.join(LEVELS)}), or a feature with its range, such as {features[0]}"
            )
            raise SpecError(message, field="select.difficulty")
        for name, (low, high) in wanted.items():
            if name not in features:
                message = f"no feature {name!r}; allowed: {', '.join((*LEVELS, *features))}"
                raise SpecError(message, field="select.difficulty")
            if low > high:
                message = f"{name}: from {low:g} to {high:g} there is nothing; write the lowest first"
                raise SpecError(message, field="select.difficulty")
        return cls(
            ranges=tuple((name, float(low), float(high)) for name, (low, high) in sorted(wanted.items()))
        )

    @classmethod
    def in_turn(
        cls,
        wanted: Wanted,
        *,
        features: Sequence[str] = FEATURES,
        has_four_maps: bool = False,
    ) -> tuple[Self | None, ...]:
        """The difficulties that a selection's rounds take in turn; None: questions as they come.

        >>> [difficulty and difficulty.tag for difficulty in Difficulty.in_turn("mixed")]
        [None, 'easy', 'medium', 'hard']

        Raises:
            SpecError: as `of`.
        """
        if wanted == "mixed":
            return (None, *(cls.of(level, has_four_maps=has_four_maps) for level in LEVELS))
        if wanted is None:
            return (None,)
        return (cls.of(wanted, features=features, has_four_maps=has_four_maps),)

    @staticmethod
    def left_out(in_turn: Sequence["Difficulty | None"], *, rounds: Sequence[int], limit: int) -> list[str]:
        """Say which difficulties no question gets, where they take turns: there is none, or `limit` is small.

        `rounds` says how many questions each has in its turn.

        >>> Difficulty.left_out(Difficulty.in_turn("mixed"), rounds=(14, 14, 14, 3), limit=30)
        ['the first 30 questions hold none that is hard: rounds of 14 or 3 take turns, so 45 hold all']
        >>> Difficulty.left_out(Difficulty.in_turn("mixed"), rounds=(7, 7, 7, 0), limit=30)
        ['these tasks, scenes and places have no question that is hard']
        """
        if not limit:
            return []
        names = [each.level or each.tag if each else AS_IT_COMES for each in in_turn]
        starts = accumulate(rounds, initial=0)
        absent = [name for name, size in zip(names, rounds, strict=True) if not size]
        missed = [
            name for name, size, start in zip(names, rounds, starts, strict=False) if size and start >= limit
        ]
        told = (
            [f"these tasks, scenes and places have no question that is {' or '.join(absent)}"]
            if absent
            else []
        )
        if missed:
            each = " or ".join(map(str, dict.fromkeys(filter(None, rounds))))
            turns = f"rounds of {each} take turns, so {sum(rounds)} hold all"
            told.append(f"the first {limit} questions hold none that is {' or '.join(missed)}: {turns}")
        return told

    @classmethod
    def from_tag(cls, tag: str) -> Self:
        """The difficulty that a sample's id names.

        >>> Difficulty.from_tag("detour~1.5~3").ranges
        (('detour', 1.5, 3.0),)

        Raises:
            ValueError: it names none.
        """
        if tag == OF_FOUR_MAPS:
            return cls(level="hard", has_four_maps=True)
        if not _TAG.fullmatch(tag):
            raise ValueError(tag)
        for level in LEVELS:
            if tag == level:
                return cls(level=level)
        parts = tag.split("~")
        triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        return cls(ranges=tuple((name, float(low), float(high)) for name, low, high in triples))

    @property
    def tag(self) -> str:
        """The part of a sample's id that names the difficulty.

        >>> Difficulty.of({"detour": (1.5, 3)}).tag
        'detour~1.5~3.0'
        """
        if self.has_four_maps:
            return OF_FOUR_MAPS
        return self.level or "~".join(f"{name}~{low!r}~{high!r}" for name, low, high in self.ranges)

    def check_features(self, by_task: Mapping[str, Collection[str]]) -> None:
        """Refuse a range of a feature that a task's questions do not have; `by_task` names those they have.

        >>> Difficulty.of({"detour": (1.5, 3)}).check_features({"GL": ["detour"], "MS": ["detour", "turns"]})

        Raises:
            SpecError: names the tasks that have it.
        """
        for name, _, _ in self.ranges:
            lacking = [task for task, features in by_task.items() if name not in features]
            having = [task for task in by_task if task not in lacking]
            if lacking:
                remedy = f", or ask only for {', '.join(having)}" if having else ""
                message = f"{name} is not measured of {', '.join(lacking)}: leave it out{remedy}"
                raise SpecError(message, field="select.difficulty")

    def admits(self, features: Mapping[str, float]) -> bool:
        """Whether a question with these features is within all ranges; one that lacks a feature is not."""
        return all(name in features and low <= features[name] <= high for name, low, high in self.ranges)

    def finds(self, rng: Random, chance: float) -> bool:
        """Draw whether a rule that is right in `chance` of all guesses shall find a question's answer.

        That is always so in easy questions, and by chance in hard ones.
        """
        sure = SURE[self.level] if self.level else 0.0
        return rng.random() < sure + (1 - sure) * chance

    def lots(self, rng: Random) -> "Lots | None":
        """Draw which rules of thumb shall find the right option of one question; None: no lot decides."""
        if self.level is None or self.has_four_maps:
            return None
        straight = self.finds(rng, CHANCE)
        apart = {name: rng.random() < CHANCE for name in APART}
        places = {name: rng.randrange(OPTIONS) for name in PLACED["MS"]}
        has_reverse = rng.random() < REVERSED
        apart[TOUR] = self.finds(rng, CHANCE / OF_TOUR)
        places |= {name: rng.randrange(OPTIONS) for name in PLACED["ATI"]}
        return Lots(straight=straight, apart=apart, places=places, has_reverse=has_reverse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lots:
    """Which rules of thumb are meant to find the right option of a question.

    It is settled before the question is looked for, so no rule is right more often than the lots say, however
    hard it is to find a question that obeys. All rules that go by straight lines share a lot, as they agree
    with one another; `apart` holds the others'. `places` has the right option's place among the four in what
    PLACED names; `has_reverse` says whether an order's reverse is among the options.
    """

    straight: bool
    apart: Mapping[str, bool]
    places: Mapping[str, int] = field(default_factory=dict)
    has_reverse: bool = False
    must_tell: bool = True  # whether rules of ALWAYS_TELLS are held to it

    def wrong(
        self,
        rng: Random,
        question: Evidence,
        *,
        right: str,
        candidates: Collection[str],
        count: int,
        beside: Sequence[str] = (),
    ) -> list[str] | None:
        """Choose `count` candidates that obey the lots, beside options that are given; None where none do.

        A rule that cannot tell the right option from any other has no say.
        """
        scores = scores_of(question, [right, *beside, *candidates])
        placed = PLACED.get(question.task, {})
        never, misled = self._demands(
            {rule: by_option for rule, by_option in scores.items() if rule not in placed}, right
        )
        misled = [ahead for ahead in misled if ahead.isdisjoint(beside)]
        free = sorted(set(candidates) - never)
        if not never.isdisjoint(beside) or len(free) < count or not all(misled):
            return None
        sets = list(combinations(free, count))
        for wrong in rng.sample(sets, min(TRIED, len(sets))):
            options = (right, *beside, *wrong)
            if self._is_obeyed(scores, options, question.task) and self.is_placed(question, options):
                return list(wrong)
        return None

    def is_hopeless(
        self,
        rng: Random,
        question: Evidence,
        *,
        right: str,
        candidates: Collection[str],
        beside: Sequence[str] = (),
    ) -> bool:
        """Whether not even all these candidates hold wrong options that obey the lots."""
        count = OPTIONS - 1 - len(beside)
        return not self.wrong(rng, question, right=right, candidates=candidates, count=count, beside=beside)

    def _is_obeyed(
        self, scores: Mapping[str, Mapping[str, float]], options: Sequence[str], task: str
    ) -> bool:
        """Whether each rule that tells the options apart finds or misses the first one, as its lot says."""
        for rule, by_option in scores.items():
            places = taken([by_option[option] for option in options])
            finds = places == [0]
            is_unclear = not places or (0 in places and not finds)  # it would guess
            if len(places) == len(options):
                if self.must_tell and (rule, task) in ALWAYS_TELLS:
                    return False
            elif rule in PLACED.get(task, {}):
                continue  # its place says whether it finds the first one
            elif finds != self.finds(rule) or is_unclear:
                return False
        return True

    def is_placed(self, question: Evidence, options: Sequence[str]) -> bool:
        """Whether the first option has the place drawn for it in each ranking; equal options share places."""
        for name, score in PLACED.get(question.task, {}).items():
            values = [value for option in options if (value := score(question, option)) is not None]
            if name in self.places and values:
                before = sum(value < values[0] - SAME for value in values)
                level = sum(abs(value - values[0]) <= SAME for value in values)
                if not before <= self.places[name] < before + level:
                    return False
        return True

    def finds(self, rule: str) -> bool:
        """Whether the rule is to find the right option."""
        return self.apart.get(rule, self.straight)

    def misleading(
        self, question: Evidence, *, right: str, candidates: Collection[str]
    ) -> list[set[str]] | None:
        """Sets of candidates; one of each set must be a wrong option. None: one of the sets is empty."""
        never, misled = self._demands(scores_of(question, [right, *candidates]), right)
        left = [ahead - never for ahead in misled]
        return left if all(left) else None

    def _demands(
        self, scores: Mapping[str, Mapping[str, float]], right: str
    ) -> tuple[set[str], list[set[str]]]:
        """The candidates that may not be wrong options, and the sets of which one must be."""
        never: set[str] = set()
        misled: list[set[str]] = []
        for rule, by_option in scores.items():
            ahead = {option for option, score in by_option.items() if score <= by_option[right] - SAME}
            level = {option for option, score in by_option.items() if abs(score - by_option[right]) < SAME}
            if len(level) == len(by_option):
                continue
            if self.finds(rule):
                never |= (ahead | level) - {right}
            else:
                misled.append(ahead)
        return never, misled
