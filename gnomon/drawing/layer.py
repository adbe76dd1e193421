"""A layer: one sketch with its name and its look, that a page switches on and off as one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from gnomon.drawing.arm_look import ArmLook, arm_look
from gnomon_tools.core.sketch import Sketch

Look = Literal["seen", "truth", "step"] | int  # an arm's place among the job's, from 0


@dataclass(frozen=True, slots=True)
class Layer:
    """What is drawn of one sketch. Scene, clock and legend carry `key` (else the name) as `data-layer`.

    A layer that is not `is_on` is drawn with the class `is-off`, which hides it.
    """

    name: str
    sketch: Sketch
    look: Look
    key: str = field(default="", kw_only=True)
    is_on: bool = field(default=True, kw_only=True)

    @property
    def data_layer(self) -> str:
        return self.key or self.name

    @property
    def arm(self) -> ArmLook | None:
        """How its arm looks; None: it is no arm's."""
        return arm_look(self.look) if isinstance(self.look, int) else None

    @property
    def css(self) -> str:
        """The classes of the layer's group."""
        return f"layer look-{self.arm.css if self.arm else self.look}" + ("" if self.is_on else " is-off")


def bottom_up(layers: Sequence[Layer]) -> list[Layer]:
    """The layers in drawing order: the truth first, below the others, which keep their order."""
    return sorted(layers, key=lambda layer: layer.look != "truth")
