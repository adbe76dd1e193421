"""What `gnomon mcp` offers: scenes by file or name, the tools on them, and what packages add."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError
from gnomon.spec.pasted_keys import NAME_ALLOWED, is_variable
from gnomon.spec.spec_file import read_spec
from gnomon_service.cli.common import existing_store, settings_of
from gnomon_service.settings import Settings
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.scene.format import scene_to_json
from gnomon_tools.scene.scene import Scene
from gnomon_workbench.mcp_server.offer import Offer
from gnomon_workbench.mcp_server.scenes import ServedScene, scene_resources, scene_tools
from gnomon_workbench.offering import OFFERINGS, input_sources
from gnomon_workbench.tool_call import inline_scene

if TYPE_CHECKING:
    from gnomon_service.web.questions import Questions
    from gnomon_workers.store.store import Store

SCENE_FILES = "*.geojson"
INSTRUCTIONS = (
    "Tools that measure on scenes: cameras, places, roads and rooms with positions. Read a scene under"
    " scene://NAME and name it in a tool's argument `scene`. Lengths are metres on the scene's plane (x east,"
    " y north), bearings degrees clockwise from north, times seconds."
)


def offer_of(scenes: Sequence[str], *, names: Sequence[str] = ()) -> Offer:
    """An offer of the tools called `names` (all where none is) on scenes: files, folders, requests of trips,
    examples, generated worlds or JOB/SAMPLE; without any the examples.

    Raises:
        SpecError, NotFound: a scene cannot be opened, or a tool is unknown or can work on none of the scenes.
        PluginFault: a tool of another's does not load.
    """
    served = _named_apart([scene for name in scenes or _usual() for scene in _opened(name)])
    added = [tool for offering in OFFERINGS for tool in offering.mcp_tools()]
    replaced = {tool.name for tool in added}
    offered = [*scene_tools([tool for tool in TOOLS if tool.name not in replaced], served), *added]
    if names:
        by_name = {tool.name: tool for tool in offered}
        for name in names:
            if name not in by_name:
                known = name in TOOLS and TOOLS.get(name)  # which says what is wrong with one that is broken
                why = "can work on none of the scenes" if known else "is unknown"
                message = f"the tool {name!r} {why}; there are: {', '.join(by_name)}"
                raise SpecError(message, field="--tool")
        offered = [by_name[name] for name in dict.fromkeys(names)]
    return Offer(
        tools=offered,
        resources=scene_resources(served),
        version=version("gnomon-eval"),
        instructions=" ".join([INSTRUCTIONS, *(each.mcp_instructions for each in OFFERINGS)]).strip(),
    )


def _named_apart(scenes: Iterable[ServedScene]) -> list[ServedScene]:
    by_name: dict[str, ServedScene] = {}
    for scene in scenes:
        if scene.name in by_name:
            raise SpecError(f"two scenes are called {scene.name!r}: rename a file", field="--scene")
        by_name[scene.name] = scene
    return list(by_name.values())


def _usual() -> list[str]:
    from gnomon_workbench.scene_choice import choices, example_scenes  # late: with the pages

    return list(example_scenes() or choices(Scene))


def _opened(name: str) -> Iterator[ServedScene]:
    """The scenes that an entry of `--scene` names."""
    path = Path(name)
    if path.is_dir():
        files = sorted(path.glob(SCENE_FILES))
        if not files:
            raise SpecError(f"{name} holds no {SCENE_FILES}", field="--scene")
        yield from map(_of_file, files)
    elif path.is_file() or path.suffix:
        yield _of_file(path)
    else:
        yield _of_key(name)


def _of_file(path: Path) -> ServedScene:
    """A scene, or what a package reads from the file."""
    value = read_spec(path)
    for source in input_sources():
        if (opened := source.read(value)) is not None:
            return _of_text(path.stem, opened.title, opened.context, opened.text)
    try:
        scene = inline_scene(value)
    except SpecError as error:
        raise SpecError(f"{path}: {error.message}", field=error.field) from None
    context = ToolContext(inputs=held(scene), is_free=True)
    title = f"scene “{scene.id}”"
    return ServedScene(name=path.stem, title=title, context=context, text=partial(_geojson, scene))


def _geojson(scene: Scene) -> str:
    return json.dumps(scene_to_json(scene), ensure_ascii=False)


def _of_text(name: str, title: str, context: ToolContext, text: str) -> ServedScene:
    return ServedScene(
        name=name, title=title, context=context, text=lambda: text, media_type="application/json"
    )


def _of_key(key: str) -> ServedScene:
    """An example, what a package knows by that key, or a sample of a stored job."""
    from gnomon_workbench.scene_choice import open_scene

    opened = open_scene(_Stored(settings_of(None)), key)
    context = opened.context
    if context.find(Scene) is None and context.inputs:
        text = json.dumps({"sample": opened.sample}) if opened.job else opened.text
        return _of_text(key, opened.title, context, text)
    return ServedScene(name=key, title=opened.title, context=context, text=partial(_geojson, context.scene))


@dataclass(frozen=True)
class _Stored:
    """The jobs of this data folder, opened when a sample of one is named."""

    settings: Settings

    @cached_property
    def store(self) -> "Store":
        return existing_store(self.settings.data_dir)

    @cached_property
    def questions(self) -> "Questions":
        from gnomon_service.web.questions import Questions

        return Questions(self.settings.data_dir)


def token_from(name: str | None) -> str | None:
    """The bearer token in the variable `name`; None where no variable is named.

    Raises:
        SpecError: it is no name of a variable, or the variable is not set.
    """
    if name is None:
        return None
    if not is_variable(name, os.environ):
        raise SpecError(f"is no name of a variable; allowed: {NAME_ALLOWED}", field="--token-env")
    token = os.environ.get(name)
    if not token:
        raise SpecError(f"the variable {name} is not set", field="--token-env")
    return token
