"""Boxes: cuboids around the things of a scene, upright or tilted, in metres with z up."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from gnomon_tools.core.inputs import BlindInput

if TYPE_CHECKING:
    from gnomon_tools.scene.scene import Scene

XYZ = tuple[float, float, float]

HEADER = (
    "Boxes around things, in metres; z is up, and seen from above counterclockwise is to the left. Each: its"
    " centre, its three edge lengths, and the unit vectors along those edges"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box: `axes` are three unit vectors at right angles, `lengths_m` the whole edges along them."""

    name: str
    kind: str
    centre_m: XYZ
    lengths_m: XYZ
    axes: tuple[XYZ, XYZ, XYZ] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def in_words(self) -> str:
        """The box as a line, to the centimetre; enough for distances to about 2 cm.

        >>> box = Box(name="bed", kind="bed", centre_m=(1.0, 2.5, 0.25), lengths_m=(2.0, 1.6, 0.5))
        >>> print(box.in_words())
        bed: centre 1.00 2.50 0.25; edges 2.00 1.60 0.50; axes 1.00 0.00 0.00, 0.00 1.00 0.00, 0.00 0.00 1.00
        """
        axes = ", ".join(map(_spaced, self.axes))
        return f"{self.name}: centre {_spaced(self.centre_m)}; edges {_spaced(self.lengths_m)}; axes {axes}"


def _spaced(values: XYZ) -> str:
    return " ".join(f"{round(value, 2) + 0.0:.2f}" for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes(BlindInput):
    """The boxes of a place, by name. `said` are the names and kinds that the question says."""

    heading: ClassVar[str] = "On boxes"
    in_words: ClassVar[str] = "a scene with boxes around its things"

    by_name: Mapping[str, Box]
    said: tuple[str, ...] = ()

    @classmethod
    def of_scene(cls, scene: "Scene | None", said: tuple[str, ...] = ()) -> "Boxes | None":
        """Those of a scene; None where it has none."""
        return cls(by_name=scene.boxes, said=said) if scene is not None and scene.boxes else None

    def of_kind(self, kind: str) -> list[Box]:
        """All of a kind, in order."""
        return [box for box in self.by_name.values() if box.kind == kind]

    def may_be_replaced_by(self, other: "Boxes") -> bool:
        return self.by_name != other.by_name

    def stand_in(self, other: "Boxes | None", *, seed: int) -> "Boxes":
        """The other's boxes under names of its own, among them all that the question says.

        A kind that the question says has another number of boxes than here where that can be.
        """
        chance = random.Random(f"stand-in boxes {seed}")
        named = [name for name in self.said if name in self.by_name]
        wanted = [(name, self.by_name[name].kind) for name in named]
        for kind in self.said:
            true = len(self.of_kind(kind))
            if kind not in named and true:
                count = chance.choice([number for number in range(1, max(true, 4) + 2) if number != true])
                have = sum(wanted_kind == kind for _, wanted_kind in wanted)
                wanted += [(f"{kind} {number}", kind) for number in range(have + 1, count + 1)]
        shapes = list((other or self).by_name.values())
        chance.shuffle(shapes)
        said_kinds = {kind for _, kind in wanted}
        wanted += [(box.name, box.kind) for box in shapes[len(wanted) :] if box.kind not in said_kinds]
        by_name: dict[str, Box] = {}
        for at, (name, kind) in enumerate(dict.fromkeys(wanted)):
            by_name[name] = _beside(shapes[at % len(shapes)], at // len(shapes), name, kind)
        return Boxes(by_name=by_name, said=self.said)


def _beside(box: Box, times: int, name: str, kind: str) -> Box:
    """The box under another name, moved where its place is taken already."""
    x_m, y_m, z_m = box.centre_m
    return replace(box, name=name, kind=kind, centre_m=(x_m + 1.7 * times, y_m - 1.1 * times, z_m))
