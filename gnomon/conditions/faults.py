"""Makes some calls of tools fail, or return what is not true, the same in every run."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from gnomon.core.arm import Arm, Faults
from gnomon.core.ids import stable_seed
from gnomon.core.sample import Sample
from gnomon.trials.condition import Condition, Situation
from gnomon.trials.corrupt_measurements import corrupt_measurements, has_measurements
from gnomon.trials.dealt_text import stretched
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_tools.scene.scene import Scene
from gnomon_tools.scene.scene_cache import cached_per_scene

BROKEN = json.dumps({"error": "The tool failed and gave no result."})

T = TypeVar("T")


class FaultyToolbox(Toolbox):
    """Some calls fail, or return what is not true.

    A hit call is an explicit error, or runs on the scene with its cameras and its places exchanged
    (`exchanged`): plausible, consistent and wrong. Where that would be an error, or change nothing, as the
    tool needs no scene, the measurements of the true result are corrupted. Where that too changes nothing,
    the call is not hit.
    """

    def __init__(
        self, tools: tuple[Tool[Any], ...], context: ToolContext | None, *, faults: Faults, seed: int
    ) -> None:
        super().__init__(tools, context)
        self._faults, self._seed, self._calls = faults, seed, 0

    def skip(self) -> None:
        self._calls += 1  # which calls are hit depends on their number

    def observe(self, tool: Tool[Any], args: ToolArgs, context: ToolContext | None) -> Observation:
        self._calls += 1
        if not self._is_hit(tool.name):
            return super().observe(tool, args, context)
        if self._faults.kind == "explicit":
            return Observation(content=BROKEN, error="injected", injected=self._name)
        true = super().observe(tool, args, context)
        if context is None or true.error is not None:
            return true
        if tool.is_foreign:
            wrong = stretched(true.content)
            return true if wrong == true.content else replace(true, content=wrong, injected=self._name)
        faulty = true
        if tool.needs is Scene:
            faulty = super().observe(tool, args, context.having(exchanged(context.scene)))
        if faulty.error is not None or faulty.content == true.content:
            faulty = replace(true, content=corrupt_measurements(true.content))
        return true if faulty.content == true.content else replace(faulty, injected=self._name)

    @property
    def _name(self) -> str:
        return f"{self._faults.kind}_{self._faults.lasting}"

    def _is_hit(self, tool: str) -> bool:
        call = self._calls if self._faults.lasting == "transient" else 0
        return stable_seed("fault", self._seed, tool, call) < self._faults.rate * 2**31


def can_be_wrong(tool: Tool[Any]) -> bool:
    """Whether a silent fault can touch the tool: it reads a scene, or measures."""
    return tool.is_foreign or tool.needs is Scene or has_measurements(tool)


@cached_per_scene
def exchanged(scene: Scene) -> Scene:
    """The scene with each camera's place, view and calibration, and each place's, under the next one's id."""
    return replace(
        scene,
        cameras={name: replace(other, id=name) for name, other in _shifted(scene.cameras)},
        places={
            name: replace(scene.places[name], xy_m=other.xy_m, floor=other.floor)
            for name, other in _shifted(scene.places)
        },
    )


def _shifted(items: Mapping[str, T]) -> list[tuple[str, T]]:
    """Each id with the item under the next one, cyclically, in the order of ids."""
    names = sorted(items)
    return [(name, items[after]) for name, after in zip(names, names[1:] + names[:1], strict=True)]


class FaultsCondition(Condition):
    """Tools that fail on purpose; results that are neutral or foreign do not."""

    name = "faults"
    description = "makes tools fail on purpose"
    order = 20

    def is_of(self, arm: Arm) -> bool:
        return arm.faults is not None and arm.results == "live"

    def on_toolbox(self, toolbox: Toolbox, sample: Sample, now: Situation) -> Toolbox:  # noqa: ARG002
        if now.arm.faults is None:
            return toolbox
        return FaultyToolbox(toolbox.tools, toolbox.context, faults=now.arm.faults, seed=now.seed)


faults = FaultsCondition()
