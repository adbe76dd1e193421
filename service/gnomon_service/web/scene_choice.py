"""Opens what a tool is called on from a page: an example, a generated world, or a sample of a job."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import gnomon
from gnomon.core.errors import GnomonError, NotFound
from gnomon.core.tool_inputs import context_of
from gnomon_service.settings import Settings
from gnomon_service.tool_call import scene_file
from gnomon_service.web.questions import Questions
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.scene.scene import Scene
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_workers.open_job import media_of
from gnomon_workers.store.store import Store
from gnomon_worlds.drawing import draw
from gnomon_worlds.sample_numbers import number_of

EXAMPLES = Path(gnomon.__file__).parents[1] / "examples"  # absent where only the packages are installed
TRIP = "helsinki"
REQUEST = {
    "id": "helsinki-two-days",
    "area": TRIP,
    "start_date": "2026-06-10",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex"],
}
WORLDS = ("w0-00000", "w0-00001", "w0-00002", "w0-00003")  # two streets and two buildings take turns


class StoredJobs(Protocol):
    """Where the samples of stored jobs are found."""

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def questions(self) -> Questions: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedScene:
    """What a tool is called on. `key` names it in addresses; `job` and `sample` are those it belongs to."""

    key: str
    title: str
    context: ToolContext
    job: str = ""
    sample: str = ""


NOTHING = OpenedScene(key="", title="nothing", context=ToolContext(is_free=True))


def scenes() -> Mapping[str, str]:
    """The scenes that are always there: names in words by key."""
    files = sorted((EXAMPLES / "scenes").glob("*.geojson"))
    examples = {path.stem: f"example scene “{path.stem}”" for path in files}
    return examples | {key: f"generated world {key}" for key in WORLDS}


def choices(need: Need) -> Mapping[str, str]:
    """What a tool with this need can be called on without any job: names in words by key."""
    if need is Scene:
        return scenes()
    if need is Trip:
        return {TRIP: "a trip to Helsinki"}
    return {"": "no scene is needed"} if NOTHING.context.meets(need) else {}


def first_choice(need: Need) -> str:
    """The key to begin with; empty where nothing is at hand."""
    names = choices(need)
    return "small" if "small" in names else next(iter(names), "")


def open_scene(state: StoredJobs, key: str) -> OpenedScene:
    """What the key names: a file of examples/scenes, a world's sample, `helsinki`, or `JOB/SAMPLE`.

    Raises:
        NotFound: the key names nothing, or the sample cannot be opened here.
    """
    if not key:
        return NOTHING
    job_id, slash, sample_id = key.partition("/")
    if slash:
        return _of_sample(state, key, job_id, sample_id)
    if key == TRIP:
        return _trip()
    if key in scenes() and key not in WORLDS:
        scene = scene_file(EXAMPLES / "scenes" / f"{key}.geojson")
        return OpenedScene(
            key=key, title=scenes()[key], context=ToolContext(inputs=held(scene), is_free=True)
        )
    return _world(key)


@functools.lru_cache(maxsize=16)
def _world(key: str) -> OpenedScene:
    try:
        scene = draw(number_of(key)).world.scene
    except GnomonError:
        raise NotFound(
            f"no scene {key!r}; there are: {', '.join(scenes())}, any wSEED-NUMBER, and JOB/SAMPLE",
            field="scene",
        ) from None
    context = ToolContext(inputs=held(scene), is_free=True)
    return OpenedScene(key=key, title=f"generated world {key}", context=context)


@functools.cache
def _trip() -> OpenedScene:
    """The request of the example trip with its places and ways."""
    request = read_request(REQUEST)
    trip = answered(open_trip(request, embedded(TRIP)), is_local=True)
    return OpenedScene(
        key=TRIP,
        title="a trip to Helsinki",
        context=ToolContext(inputs=held(trip), is_free=True),
    )


def _of_sample(state: StoredJobs, key: str, job_id: str, sample_id: str) -> OpenedScene:
    job = state.store.job(job_id)
    opened = state.questions.open(job.id, job.spec, sample_id)
    if opened.sample is None:
        raise NotFound(f"sample {sample_id!r} cannot be opened here: {opened.problem}", field="scene")
    context = context_of(opened.sample, media_of(state.settings.data_dir))
    title = f"sample {sample_id} of {job.name or job.id}"
    return OpenedScene(key=key, title=title, context=context, job=job.id, sample=sample_id)
