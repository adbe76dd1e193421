"""Defines what a family of questions is, and what one of its questions holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.world import Spot, World

LETTERS = "ABCDE"
PER_PLACE = 4  # questions of each family and scene that share a place


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyQuestion:
    """One question with its truth; the options are in the order in which they have letters.

    `rules` holds, by name, which options a rule of thumb leaves, and `halves` which are left to a solver who
    knows all ways but leaves out one step; `ways` are the ways that decide, for people.
    """

    evidence: tuple[str, ...]  # what cameras tell, a text each
    text: str
    options: tuple[str, ...]
    right: int
    features: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    halves: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ways: tuple[tuple[Spot, Spot, str], ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    window_s: tuple[float, float] | None = None  # of the clip, where a part of it is asked about

    @property
    def whole_text(self) -> str:
        """The question, with the part of the clip that it asks about."""
        if self.window_s is None:
            return self.text
        return f"From {self.window_s[0]:g} s to {self.window_s[1]:g} s of the clip: {self.text}"

    @property
    def gold(self) -> str:
        """The letter of the right option."""
        return LETTERS[self.right]

    @property
    def by_letter(self) -> Mapping[str, str]:
        return dict(zip(LETTERS, self.options, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A kind of question. A change that changes its questions or its truth changes `version`.

    `draw` gets lots that are the same in every place that is tried, the place, lots of that place, and how
    hard the question is to be; it returns None where the place holds no such question. What the first lots
    settle is so independent of how hard it is to find.
    """

    task: str
    short: str  # in ids
    version: int
    scenes: tuple[str, ...]
    draw: Callable[[Random, World, Random, Difficulty | None], FamilyQuestion | None]
    text: str  # what is asked, for the docs
    options: WorldOptions | None = None  # what its places have beyond plain ones
    per_place: int = PER_PLACE

    def place_kind(self, scene: str) -> str:
        """The name of its kind of place in clusters: what places have beyond plain ones, and the scene."""
        tag = self.options.tag if self.options else ""
        return f"{tag}-{scene}" if tag else scene


def finds_surely(lots: Random, difficulty: Difficulty | None) -> bool:
    """Draw whether straight lines shall find a question's answer.

    They do in easy questions and in some of medium difficulty; never in those without a level.
    """
    return difficulty is not None and difficulty.level is not None and difficulty.finds(lots, 0.0)


def shuffled(
    rng: Random, options: Sequence[str], right: int, rules: Mapping[str, Sequence[int]]
) -> tuple[tuple[str, ...], int, dict[str, tuple[int, ...]]]:
    """Shuffle the options; return where the right one is then, and those that rules leave.

    >>> options, right, rules = shuffled(Random(1), ["a", "b", "c"], 2, {"last": [2]})
    >>> options[right], rules["last"] == (right,)
    ('c', True)
    """
    order = rng.sample(range(len(options)), len(options))
    place = {old: new for new, old in enumerate(order)}
    moved = {rule: tuple(sorted(place[index] for index in left)) for rule, left in rules.items()}
    return tuple(options[index] for index in order), place[right], moved
