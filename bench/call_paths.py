"""Counts the modules that a job, a trial, a row and a report pass through: how far a reader must follow.

`python -m bench.call_paths [--json]` makes each call once and prints how many of our modules
it enters, how many different steps lead from a module up to one of a higher package (tools, gnomon,
agents, workers, service), and how many lead back into a module that was left. A path of a spec or
of scores counts only the calls that they are passed to.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Self

from redis import Redis

from agents.models.catalog import open_model
from gnomon.core.agent import AGENTS
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.media import MediaStore
from gnomon.report.build import build_report
from gnomon.spec.endpoints import EndpointAllowlist
from gnomon.trials.run_trial import JobContext, run_trial
from gnomon.trials.trial_plan import expand_trials
from service.jobs import Draft, draft_from_request, submit
from service.settings import read_settings
from tools.core.inputs import held
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from workers.open_job import JobCache
from workers.settings import read_timing
from workers.shard import WorkerContext, run_shard
from workers.store.store import Store

ROOT = Path(__file__).parent.parent
FLOORS = {"tools": 0, "gnomon": 1, "agents": 2, "workers": 3, "service": 4}
SPEC = {
    "benchmark": "worlds",
    "select": {"limit": 4},
    "models": [{"id": "scripted", "options": {"replies": ["A"]}, "price": {"input": 1, "output": 1}}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    "limits": {"usd": 5.0},
}
UNNAMED = ("<module>", "<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "__init__")


@dataclass
class CallPath:
    """The modules that calls enter, in order. Use it as a context manager around what is followed."""

    follows: Callable[[object], bool] | None = None  # only calls that are passed such an object
    until: str = ""  # the name of the function where the path ends
    modules: list[str] = field(default_factory=list)
    has_ended: bool = False

    def __enter__(self) -> Self:
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or self.has_ended or code.co_name in UNNAMED:
            return
        if not code.co_filename.startswith(f"{ROOT}/"):
            return
        module = code.co_filename[len(f"{ROOT}/") :]
        if module.split("/")[0] not in FLOORS:
            return
        if self.follows is not None and not any(map(self.follows, list(frame.f_locals.values()))):
            return
        if not self.modules or self.modules[-1] != module:
            self.modules.append(module)
        self.has_ended = code.co_name == self.until

    def counts(self) -> dict[str, int]:
        """Modules entered, different steps to a higher package, different steps back into a module."""
        entered: set[str] = set()
        ways_back: set[tuple[str, str]] = set()
        climbs: set[tuple[str, str]] = set()
        for before, module in zip(["", *self.modules], self.modules, strict=False):
            if module in entered:
                ways_back.add((before, module))
            if before and _floor(module) > _floor(before):
                climbs.add((before, module))
            entered.add(module)
        return {"modules": len(entered), "climbs": len(climbs), "ways_back": len(ways_back)}


def _floor(module: str) -> int:
    return FLOORS[module.split("/")[0]]


def _is_of(*names: str) -> Callable[[object], bool]:
    """Whether an object is of a class of such a name, or a posted spec."""

    def follows(value: object) -> bool:
        if isinstance(value, dict):
            return "dict" in names and {"benchmark", "models", "arms"} <= value.keys()
        if isinstance(value, list | tuple) and value:
            value = value[0]
        return type(value).__name__ in names

    return follows


def _stored_job(folder: Path, paths: dict[str, CallPath]) -> tuple[Draft, Store, str]:
    settings = read_settings({}, data_dir=folder)
    store, redis = Store(f"sqlite:///{folder / 'gnomon.db'}"), Redis(port=1)  # no queue: the store is enough
    draft_from_request(
        json.loads(json.dumps(SPEC)), settings
    )  # what is loaded only once is no part of a path
    with CallPath(_is_of("dict", "JobSpec", "ModelSpec", "Draft")) as paths[
        "a posted spec to its stored job"
    ]:
        draft = draft_from_request(json.loads(json.dumps(SPEC)), settings)
        job = submit(draft, store=store, redis=redis)
    with CallPath() as paths["create_job to the store"]:
        store.create_job(draft.spec, draft.refs)
    return draft, store, job.id


def _shard(folder: Path, store: Store, job_id: str, paths: dict[str, CallPath]) -> None:
    context = WorkerContext(
        name="worker",
        store=store,
        opener=JobCache(media=MediaStore(folder / "media")),
        open_model=open_model,
        timing=read_timing({}),
        allowed_bases=EndpointAllowlist(),
    )
    with CallPath(until="_run_together") as paths["run_shard to its loop"]:
        run_shard(job_id, 0, context=context)


def _rows(folder: Path, draft: Draft, paths: dict[str, CallPath]) -> list[Row]:
    spec, media = draft.spec, MediaStore(folder / "media")
    benchmark = spec.plugin()
    samples = benchmark.open(data=None, select=spec.select, protocol=spec.protocol, media=media)
    bench, model = JobContext(spec=spec, benchmark=benchmark, media=media), open_model(spec.models[0], media)
    rows = []
    for trial in expand_trials("j", spec, samples.refs):
        sample, agent = samples.get(trial.ref.sample_id), AGENTS.get(spec.arm(trial.arm).agent)
        with CallPath() as paths[f"one trial to its row, agent {agent.name}"]:
            row, _ = asyncio.run(
                run_trial(trial, bench=bench, sample=partial(_same, sample), agent=agent, model=model)
            )
        rows.append(row)
    scene = sample.scene
    first, second = list(scene.cameras)[:2]
    for name, arguments in (
        ("distance", {"start": {"camera": first}, "end": {"camera": second}}),
        ("forecast_arrival", {"at": {"camera": first}, "time_s": 0, "speed_mps": 1.5, "cameras": [second]}),
    ):
        toolbox = Toolbox([TOOLS.get(name)], ToolContext(inputs=held(scene)))
        toolbox.call(name, json.dumps(arguments))
        with CallPath() as paths[f"the arguments of {name}"]:
            toolbox.call(name, json.dumps(arguments))
    return rows


def _same(sample: Sample) -> Sample:
    return sample


def measure(folder: Path) -> dict[str, CallPath]:
    """Every path, walked once with what is loaded only once already there."""
    paths: dict[str, CallPath] = {}
    draft, store, job_id = _stored_job(folder, paths)
    _shard(folder, store, job_id, paths)
    rows = _rows(folder, draft, paths)
    for name, follows in (("the spec", _is_of("JobSpec")), ("the scores", _is_of("ScoreMatrix"))):
        with CallPath(follows) as paths[f"{name} through build_report"]:
            build_report(job_id="j", spec=draft.spec, status="completed", rows=rows, planned=len(rows))
    store.close()
    return paths


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="with the modules of each path")
    as_json = parser.parse_args().json
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        paths = measure(Path(folder))
    if as_json:
        document = {name: {**path.counts(), "path": path.modules} for name, path in paths.items()}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    sys.stdout.write("| path | modules | climbs | ways back |\n|---|---|---|---|\n")
    for name, path in paths.items():
        counts = path.counts()
        sys.stdout.write(f"| {name} | {counts['modules']} | {counts['climbs']} | {counts['ways_back']} |\n")


if __name__ == "__main__":
    main()
