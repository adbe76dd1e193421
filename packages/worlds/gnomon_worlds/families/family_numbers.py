"""Tells which family, scene and place a sample has, without generating anything."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from gnomon.core.errors import NotFound
from gnomon.core.sample import SampleRef
from gnomon.core.select import AS_IT_COMES
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.refs_on_demand import RefsOnDemand

if TYPE_CHECKING:
    from gnomon_worlds.families.family import Family
    from gnomon_worlds.motion.sample_making import MotionTask

_ID = re.compile(r"([a-z]+)(\d+)-([a-z]+)-(\d+)-(?:([a-z].*)-)?(\d{5,})", re.ASCII)


F = TypeVar("F", bound="Family | MotionTask")


@dataclass(frozen=True, slots=True)
class FamilyNumber(Generic[F]):
    """Question k of a family in one kind of scene of a seed. Its id says all that it is drawn from."""

    family: F
    scene: str
    seed: int
    k: int
    difficulty: Difficulty | None = None

    @property
    def sample_id(self) -> str:
        tag = f"{self.difficulty.tag}-" if self.difficulty else ""
        return f"{self.family.short}{self.family.version}-{self.scene}-{self.seed}-{tag}{self.k:05d}"

    @property
    def name(self) -> tuple[str | int, ...]:
        """What it is drawn from, as parts of seeds."""
        tag = (self.difficulty.tag,) if self.difficulty else ()
        return (self.family.short, self.family.version, self.scene, self.seed, *tag, self.k)

    @property
    def level(self) -> str | None:
        """Its level; None where ranges of features say how hard it is."""
        return self.difficulty.level if self.difficulty else AS_IT_COMES

    @property
    def place(self) -> int:
        """The number of its town or building among those of the seed."""
        return self.k // self.family.per_place

    def ref(self) -> SampleRef:
        """The reference that planning works with; the questions of one place form a cluster."""
        kind = self.family.place_kind(self.scene)
        if self.difficulty:
            kind = f"{self.difficulty.tag}-{kind}"
        return SampleRef(
            sample_id=self.sample_id,
            task=self.family.task,
            cell=f"{self.scene}.{self.family.short}",
            cluster=f"w{self.seed}-{kind}-{self.place}",
        )


def family_number_of(sample_id: str, families: Sequence[F]) -> FamilyNumber[F]:
    """The number behind a sample's id.

    Raises:
        NotFound: no sample of these families has such an id.
    """
    match = _ID.fullmatch(sample_id)
    family = next((family for family in families if match and family.short == match[1]), None)
    if match is not None and family is not None and match[3] in family.scenes:
        try:
            difficulty = Difficulty.from_tag(match[5]) if match[5] else None
        except ValueError:
            difficulty = None
        number = FamilyNumber(family, match[3], int(match[4]), int(match[6]), difficulty)
        if number.sample_id == sample_id:
            return number
    like = FamilyNumber(families[0], families[0].scenes[0], 7, 12).sample_id
    raise NotFound(f"no sample {sample_id!r}; ids look like {like!r}")


@dataclass(frozen=True, slots=True)
class FamilyNumbers(RefsOnDemand, Generic[F]):
    """References to the first `limit` samples of a seed. Cells take turns: larger limits extend smaller.

    Where there are several difficulties, rounds of all cells have them in turn, each counting its own rounds.
    """

    seed: int
    cells: tuple[tuple[F, str], ...]
    limit: int
    difficulties: tuple[Difficulty | None, ...] = (None,)

    def number(self, index: int) -> FamilyNumber[F]:
        """The number of the sample at `index`, counted from 0."""
        rounds, cell = divmod(index, len(self.cells))
        k, turn = divmod(rounds, len(self.difficulties))
        return FamilyNumber(*self.cells[cell], self.seed, k, self.difficulties[turn])

    def ref_at(self, index: int) -> SampleRef:
        return self.number(index).ref()

    @property
    def warnings(self) -> Sequence[str]:
        rounds = [len(self.cells)] * len(self.difficulties)
        return Difficulty.left_out(self.difficulties, rounds=rounds, limit=self.limit)

    def holds(self, number: FamilyNumber[F]) -> bool:
        """Whether the sample belongs to the selection, found without going through it."""
        cell = (number.family, number.scene)
        if number.seed != self.seed or cell not in self.cells or number.difficulty not in self.difficulties:
            return False
        rounds = number.k * len(self.difficulties) + self.difficulties.index(number.difficulty)
        return rounds * len(self.cells) + self.cells.index(cell) < self.limit
