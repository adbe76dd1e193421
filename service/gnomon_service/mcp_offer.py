"""What `gnomon mcp` offers: scenes by file or name, the tools on them, and trips planned and checked."""

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import GnomonError, SpecError
from gnomon.spec.pasted_keys import NAME_ALLOWED, is_variable
from gnomon.spec.spec_file import read_spec
from gnomon_service.cli.common import dry_runner, existing_store, settings_of
from gnomon_service.jobs import draft_from_cli
from gnomon_service.settings import Settings
from gnomon_service.tool_call import inline_scene
from gnomon_tools.core.inputs import held
from gnomon_tools.core.registry import UnknownPlugin
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.mcp_server.offer import Offer, ServedAnswer, ServedTool
from gnomon_tools.mcp_server.scenes import ServedScene, failed, scene_resources, scene_tools
from gnomon_tools.scene.format import scene_to_json
from gnomon_tools.scene.scene import Scene
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.service.requests import ARM, SAMPLE, planned, spec_of

if TYPE_CHECKING:
    from gnomon_service.web.questions import Questions
    from gnomon_workers.store.store import Store

SCENE_FILES = "*.geojson"
PLANNERS = 2  # plans made at the same time
INSTRUCTIONS = (
    "Tools that measure on scenes: cameras, places, roads and rooms with positions. Read a scene under"
    " scene://NAME and name it in a tool's argument `scene`. Lengths are metres on the scene's plane (x east,"
    " y north), bearings degrees clockwise from north, times seconds. plan_itinerary plans a trip and"
    " verifies the plan."
)


def offer_of(scenes: Sequence[str], *, names: Sequence[str] = ()) -> Offer:
    """An offer of the tools called `names` (all where none is) on scenes: files, folders, requests of trips,
    examples, generated worlds or JOB/SAMPLE; without any the examples.

    Raises:
        SpecError, NotFound: a scene cannot be opened, or a tool is unknown or can work on none of the scenes.
        PluginFault: a tool of another's does not load.
    """
    served = _named_apart([scene for name in scenes or _usual() for scene in _opened(name)])
    offered = [*scene_tools([tool for tool in TOOLS if tool.name not in TRIP_TOOLS], served), *_trip_tools()]
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
        instructions=INSTRUCTIONS,
    )


def _named_apart(scenes: Iterable[ServedScene]) -> list[ServedScene]:
    by_name: dict[str, ServedScene] = {}
    for scene in scenes:
        if scene.name in by_name:
            raise SpecError(f"two scenes are called {scene.name!r}: rename a file", field="--scene")
        by_name[scene.name] = scene
    return list(by_name.values())


def _usual() -> list[str]:
    from gnomon_service.web.scene_choice import WORLDS, scenes  # late: it loads generated worlds

    return [key for key in scenes() if key not in WORLDS] or list(WORLDS)


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
    """A scene, or a trip whose request the file holds."""
    value = read_spec(path)
    if isinstance(value, dict) and "area" in value:
        return _of_request(path.stem, value)
    try:
        scene = inline_scene(value)
    except SpecError as error:
        raise SpecError(f"{path}: {error.message}", field=error.field) from None
    return _of_scene(path.stem, f"scene “{scene.id}”", scene)


def _of_scene(name: str, title: str, scene: Scene) -> ServedScene:
    context = ToolContext(inputs=held(scene), is_free=True)
    return ServedScene(name=name, title=title, context=context, text=partial(_geojson, scene))


def _geojson(scene: Scene) -> str:
    return json.dumps(scene_to_json(scene), ensure_ascii=False)


def _of_request(name: str, request: dict[str, Any]) -> ServedScene:
    from gnomon_trips.benchmarks.itinerary.brief import request_task  # late: most offers plan no trip at once

    trip = request_task(request).trip
    return ServedScene(
        name=name,
        title=f"the request of a trip to {request['area']}",
        context=ToolContext(inputs=held(trip), is_free=True),
        text=lambda: json.dumps(request, ensure_ascii=False),
        media_type="application/json",
    )


def _of_key(key: str) -> ServedScene:
    """An example, a generated world, the example trip, or a sample of a stored job."""
    from gnomon_service.web.scene_choice import REQUEST, open_scene

    opened = open_scene(_Stored(settings_of(None)), key)
    context = opened.context
    if context.find(Trip) is not None and context.find(Scene) is None:
        text = json.dumps({"sample": opened.sample} if opened.job else REQUEST)
        return ServedScene(
            name=key,
            title=opened.title,
            context=context,
            text=lambda: text,
            media_type="application/json",
        )
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


REQUEST_FIELD = {
    "type": "object",
    "description": "the request: area (a city with a map on this machine), start_date, days, hotel, places,"
    " window {start, end}, lunch and further wishes",
    "required": ["area", "start_date"],
    "properties": {
        "area": {"type": "string"},
        "start_date": {"type": "string", "format": "date"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "hotel": {"type": "string"},
        "places": {"type": "array", "items": {"type": "string"}},
    },
}
PLAN_SCHEMA = {
    "type": "function",
    "function": {
        "name": "plan_itinerary",
        "description": "Plan a trip from a request, with the times of every visit and way, and verify the"
        " plan against map, walking times and opening hours. A refusal names what cannot be kept together.",
        "parameters": {
            "type": "object",
            "properties": {"request": REQUEST_FIELD},
            "required": ["request"],
            "additionalProperties": False,
        },
    },
}
CHECK_SCHEMA = {
    "type": "function",
    "function": {
        "name": "check_plan",
        "description": "Check a plan of a trip: each check with whether it holds, where it fails and what"
        " it rests on. What no source can answer is told as unchecked.",
        "parameters": {
            "type": "object",
            "properties": {
                "plan": {
                    "description": "an itinerary as plan_itinerary gives it, a draft with names of places,"
                    " or TravelPlanner's list of days",
                    "anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}],
                },
                "request": REQUEST_FIELD,
            },
            "required": ["plan"],
            "additionalProperties": False,
        },
    },
}
TRIP_TOOLS = ("check_plan",)  # served in the form that takes any plan with any request


def _trip_tools() -> list[ServedTool]:
    planners = asyncio.Semaphore(PLANNERS)

    async def call(work: Callable[..., dict[str, Any]], **arguments: object) -> ServedAnswer:
        try:
            async with planners:
                value = await asyncio.to_thread(partial(work, **arguments))
        except (GnomonError, UnknownPlugin) as error:
            return failed(str(error))
        return ServedAnswer(text=json.dumps(value, ensure_ascii=False), value=value)

    async def plan(arguments: dict[str, Any]) -> ServedAnswer:
        if fault := _unfit(arguments, needed="request", allowed=("request",)):
            return failed(fault)
        return await call(_plan, request=arguments["request"])

    async def check(arguments: dict[str, Any]) -> ServedAnswer:
        if fault := _unfit(arguments, needed="plan", allowed=("plan", "request")):
            return failed(fault)
        return await call(_check, plan=arguments["plan"], request=arguments.get("request"))

    return [ServedTool(schema=PLAN_SCHEMA, call=plan), ServedTool(schema=CHECK_SCHEMA, call=check)]


def _unfit(arguments: dict[str, Any], *, needed: str, allowed: Sequence[str]) -> str:
    unknown = sorted(set(arguments) - set(allowed))
    if unknown:
        return f"no argument {unknown[0]!r}; allowed: {', '.join(allowed)}"
    return "" if needed in arguments else f"{needed}: needed"


def _plan(request: object) -> dict[str, Any]:
    """A plan by the built-in planner, with its verification.

    Raises:
        SpecError: the request is none that can be planned.
        DataError: no plan was made.
    """
    runner = dry_runner()
    job = draft_from_cli(spec_of(request), settings_of(None)).job
    selection = runner.pick(job, sample_id=SAMPLE, arm=ARM, model=None)
    row, _ = asyncio.run(runner.run_once(selection, watch=lambda _: None))
    return planned(row).as_json()


def _check(plan: object, request: object) -> dict[str, Any]:
    from gnomon_trips.export.plan_check import check_plan  # late: it loads the verifier

    return check_plan(plan, request).as_json()


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
