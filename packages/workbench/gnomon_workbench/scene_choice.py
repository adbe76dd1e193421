"""Opens what a tool is called on from a page: an example, what a package offers, or a sample of a job."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import gnomon
from gnomon.core.errors import NotFound
from gnomon.core.tool_inputs import context_of
from gnomon_service.settings import Settings
from gnomon_service.web.questions import Questions
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.scene.scene import Scene
from gnomon_workbench.offering import input_sources
from gnomon_workbench.tool_call import scene_file
from gnomon_workers.open_job import media_of
from gnomon_workers.store.store import Store

EXAMPLES = Path(gnomon.__file__).parents[1] / "examples"  # absent where only the packages are installed


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
    """What a tool is called on. `key` names it in addresses; `job` and `sample` are those it belongs to.

    `text` is what it is as JSON, where it is no scene.
    """

    key: str
    title: str
    context: ToolContext
    job: str = ""
    sample: str = ""
    text: str = ""


NOTHING = OpenedScene(key="", title="nothing", context=ToolContext(is_free=True))


def example_scenes() -> Mapping[str, str]:
    """The scenes of examples/scenes: names in words by key."""
    files = sorted((EXAMPLES / "scenes").glob("*.geojson"))
    return {path.stem: f"example scene “{path.stem}”" for path in files}


def choices(need: Need) -> Mapping[str, str]:
    """What a tool with this need can be called on without any job: names in words by key."""
    names = dict(example_scenes()) if need is Scene else {}
    for source in input_sources():
        if source.kind is need:
            names |= source.choices
    return names or ({"": "no scene is needed"} if NOTHING.context.meets(need) else {})


def first_choice(need: Need) -> str:
    """The key to begin with; empty where nothing is at hand."""
    names = choices(need)
    return "small" if "small" in names else next(iter(names), "")


def open_scene(state: StoredJobs, key: str) -> OpenedScene:
    """What the key names: a file of examples/scenes, what an extension knows by it, or `JOB/SAMPLE`.

    Raises:
        NotFound: the key names nothing, or the sample cannot be opened here.
    """
    if not key:
        return NOTHING
    job_id, slash, sample_id = key.partition("/")
    if slash:
        return _of_sample(state, key, job_id, sample_id)
    if title := example_scenes().get(key):
        scene = scene_file(EXAMPLES / "scenes" / f"{key}.geojson")
        return OpenedScene(key=key, title=title, context=ToolContext(inputs=held(scene), is_free=True))
    sources = input_sources()
    for source in sources:
        if (opened := source.open(key)) is not None:
            return OpenedScene(key=key, title=opened.title, context=opened.context, text=opened.text)
    more = "".join(f"any {source.more}, " for source in sources if source.more)
    raise NotFound(
        f"no scene {key!r}; there are: {', '.join(choices(Scene))}, {more}and JOB/SAMPLE", field="scene"
    )


def _of_sample(state: StoredJobs, key: str, job_id: str, sample_id: str) -> OpenedScene:
    job = state.store.job(job_id)
    opened = state.questions.open(job.id, job.spec, sample_id)
    if opened.sample is None:
        raise NotFound(f"sample {sample_id!r} cannot be opened here: {opened.problem}", field="scene")
    context = context_of(opened.sample, media_of(state.settings.data_dir))
    title = f"sample {sample_id} of {job.name or job.id}"
    return OpenedScene(key=key, title=title, context=context, job=job.id, sample=sample_id)
