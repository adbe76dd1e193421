"""Tells which place and which task sample k of a seed has, without generating anything."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.sample import SampleRef
from gnomon.core.select import AS_IT_COMES
from gnomon_published.benchmarks.gtr_bench.case import SCENES, TASKS
from gnomon_worlds.difficulty import Difficulty, Wanted
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.refs_on_demand import RefsOnDemand

CELLS = tuple((scene, task) for task in TASKS for scene in SCENES)

# The cells with hard questions: those in which four maps are found (worlds.md).
HARD = frozenset(
    ("outdoor", task)
    for task in (
        "GeoLocation",
        "ArrivalTimeInterval",
        "MotionState",
        "CausalReordering",
        "NextSpotForecasting",
    )
)

_ID = re.compile(r"w(-?\d+)-(?:(with~[a-z0-9_~]+)-)?(?:([a-z].*)-)?(\d{5,})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Number:
    """Sample k of a seed. Scenes and tasks take turns; every round has a place of either scene.

    >>> Number(7, 12).sample_id, Number(7, 12).cell, Number(7, 12).cluster
    ('w7-00012', 'outdoor.MTTF', 'w7-outdoor-0')
    >>> Number(7, 14).cluster
    'w7-outdoor-1'
    """

    seed: int
    k: int
    difficulty: Difficulty | None = None
    options: WorldOptions | None = None

    @property
    def series(self) -> tuple[int | str, ...]:
        """The seed, with options and difficulty where there are any."""
        return series_of(self.seed, self.difficulty, self.options)

    @property
    def level(self) -> str | None:
        """Its level; None where ranges of features say how hard it is."""
        return self.difficulty.level if self.difficulty else AS_IT_COMES

    @property
    def _name(self) -> str:
        return f"w{'-'.join(map(str, self.series))}"

    @property
    def sample_id(self) -> str:
        return f"{self._name}-{self.k:05d}"

    @property
    def scene(self) -> str:
        return CELLS[self.k % len(CELLS)][0]

    @property
    def task_id(self) -> str:
        return CELLS[self.k % len(CELLS)][1]

    @property
    def round(self) -> int:
        return self.k // len(CELLS)

    @property
    def cell(self) -> str:
        return f"{self.scene}.{TASKS[self.task_id].short}"

    @property
    def cluster(self) -> str:
        """The place: its questions share roads or floors and cameras."""
        return f"{self._name}-{self.scene}-{self.round}"

    def ref(self) -> SampleRef:
        """The reference that planning works with."""
        return SampleRef(sample_id=self.sample_id, task=self.task_id, cell=self.cell, cluster=self.cluster)


def offered(
    cells: Sequence[int], difficulty: Difficulty | None, options: WorldOptions | None = None
) -> tuple[int, ...]:
    """Those of the cells, as indices into CELLS, that a difficulty has questions of.

    For hard ones streets are closed by lot: not those of real towns, nor those on which targets wait for one
    another.
    """
    if difficulty is None or not difficulty.has_four_maps:
        return tuple(cells)
    is_as_found = options is not None and (options.network or options.movement == "simulated")
    return () if is_as_found else tuple(cell for cell in cells if CELLS[cell] in HARD)


def difficulties_of(wanted: Wanted, options: WorldOptions | None) -> tuple[Difficulty | None, ...]:
    """The difficulties that rounds take in turn, in places with these options.

    Raises:
        SpecError: hard ones alone are wanted where there are none, or as `Difficulty.of`.
    """
    in_turn = Difficulty.in_turn(wanted, has_four_maps=True)
    if not any(offered(range(len(CELLS)), each, options) for each in in_turn):
        message = (
            "no hard questions with network or movement: simulated, where streets are not closed by lot: "
            "boxes and cameras alone tell too much; allowed: easy, medium, or ranges of features"
        )
        raise SpecError(message, field="select.difficulty")
    return in_turn


def series_of(
    seed: int, difficulty: Difficulty | None, options: WorldOptions | None
) -> tuple[int | str, ...]:
    """The part of seeds and names that all samples of a selection share."""
    return (seed, *(chosen.tag for chosen in (options, difficulty) if chosen))


def number_of(sample_id: str) -> Number:
    """The number behind a sample's id.

    >>> number_of("w7-00012")
    Number(seed=7, k=12, difficulty=None, options=None)
    >>> number_of("w7-hard5-00012").cluster
    'w7-hard5-outdoor-0'

    Raises:
        NotFound: no sample has such an id.
    """
    match = _ID.fullmatch(sample_id)
    try:
        options = WorldOptions.from_tag(match[2]) if match and match[2] else None
        difficulty = Difficulty.from_tag(match[3]) if match and match[3] else None
        number = Number(int(match[1]), int(match[4]), difficulty, options) if match else None
    except ValueError:
        number = None
    if number is None or number.sample_id != sample_id:
        raise NotFound(f"no sample {sample_id!r}; ids look like 'w7-00012'")
    return number


@dataclass(frozen=True, slots=True)
class Numbers(RefsOnDemand):
    """References to the first `limit` samples of a seed in some of the cells.

    Where there are several difficulties, rounds have them in turn, each counting its own rounds.
    """

    seed: int
    cells: tuple[int, ...]  # indices into CELLS, rising
    limit: int
    difficulties: tuple[Difficulty | None, ...] = (None,)
    options: WorldOptions | None = None

    @property
    def _turns(self) -> list[tuple[int, int]]:
        """The cells of a round of each difficulty, as the difficulty's place and the cell's index."""
        each = enumerate(self.difficulties)
        return [
            (turn, cell)
            for turn, difficulty in each
            for cell in offered(self.cells, difficulty, self.options)
        ]

    def number(self, index: int) -> Number:
        """The number of the sample at `index`, counted from 0."""
        turns = self._turns
        round_, at = divmod(index, len(turns))
        turn, cell = turns[at]
        return Number(self.seed, round_ * len(CELLS) + cell, self.difficulties[turn], self.options)

    def ref_at(self, index: int) -> SampleRef:
        return self.number(index).ref()

    @property
    def warnings(self) -> Sequence[str]:
        rounds = [len(offered(self.cells, each, self.options)) for each in self.difficulties]
        return Difficulty.left_out(self.difficulties, rounds=rounds, limit=self.limit)

    def __contains__(self, ref: object) -> bool:
        """Whether the sample belongs to the selection, found without going through it."""
        if not isinstance(ref, SampleRef):
            return False
        number = number_of(ref.sample_id)
        series = [series_of(self.seed, difficulty, self.options) for difficulty in self.difficulties]
        if number.series not in series:
            return False
        turns, at = self._turns, (series.index(number.series), number.k % len(CELLS))
        return at in turns and number.round * len(turns) + turns.index(at) < self.limit
