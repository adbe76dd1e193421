"""Counts the modules that a job, a trial, a row and a report pass through: how far a reader must follow.

`python -m bench.call_paths [--json]` makes each trip once and prints, for each: the modules of ours that are
entered, how often a trip that had gone down (service, workers, agents, gnomon, tools) enters a new module
further up, and how many ways lead back into a module that had been left. A trip that follows an object
counts only the calls that are passed it.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from redis import Redis

from agents.models.catalog import open_model
from gnomon.core.agent import AGENTS
from gnomon.media import MediaStore
from gnomon.report.build import build_report
from gnomon.trials.run_trial import JobContext, run_trial
from gnomon.trials.trial_plan import expand_trials
from service.jobs import draft_from_request, submit
from service.settings import read_settings
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from workers.endpoints import EndpointAllowlist
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

    def __enter__(self) -> "CallPath":
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
        """Modules entered, climbs to a higher package, different ways back into a module."""
        entered: set[str] = set()
        ways_back: set[tuple[str, str]] = set()
        climbs = 0
        for before, module in zip(["", *self.modules], self.modules, strict=False):
            if module in entered:
                ways_back.add((before, module))
            elif before and _floor(module) > _floor(before):
                climbs += 1
            entered.add(module)
        return {"modules": len(entered), "climbs": climbs, "ways_back": len(ways_back)}


def _floor(module: str) -> int:
    return FLOORS[module.split("/")[0]]


def _is(*names: str) -> Callable[[object], bool]:
    """Whether an object is of a class of such a name, or a posted spec."""

    def follows(value: object) -> bool:
        if isinstance(value, dict):
            return "dict" in names and {"benchmark", "models", "arms"} <= value.keys()
        return type(value).__name__ in names

    return follows


def measure(folder: Path) -> dict[str, CallPath]:
    """Every trip, made once with warm caches."""
    paths: dict[str, CallPath] = {}
    settings = read_settings({}, data_dir=folder)
    store, redis = Store(f"sqlite:///{folder / 'gnomon.db'}"), Redis(port=1)  # no queue: the store is enough
    draft_from_request(json.loads(json.dumps(SPEC)), settings)
    with CallPath(_is("dict", "JobSpec", "Draft")) as paths["a POST to its stored job (the spec)"]:
        draft = draft_from_request(json.loads(json.dumps(SPEC)), settings)
        job = submit(draft, store=store, redis=redis)
    with CallPath() as paths["create_job to the store"]:
        store.create_job(draft.spec, draft.refs)
    context = WorkerContext(
        name="worker",
        store=store,
        opener=JobCache(data_dir=folder),
        open_model=open_model,
        timing=read_timing({}),
        allowed_bases=EndpointAllowlist(),
    )
    with CallPath(until="_run_together") as paths["run_shard to the loop"]:
        run_shard(job.id, 0, context=context)
    media = MediaStore(folder / "media")
    plugin = draft.spec.plugin()
    samples = plugin.open(
        data=None, select=draft.spec.selection(), protocol=draft.spec.protocol, media=media
    )
    bench, model = JobContext(spec=draft.spec, benchmark=plugin, media=media), open_model(SPEC_MODEL(draft), media)
    rows = []
    for trial in expand_trials("j", draft.spec, samples.refs):
        sample, agent = samples.get(trial.ref.sample_id), AGENTS.get(draft.spec.arm(trial.arm).agent)
        with CallPath() as path:
            row, _ = asyncio.run(
                run_trial(trial, bench=bench, sample=lambda sample=sample: sample, agent=agent, model=model)
            )
        paths[f"one trial to its row ({agent.name})"] = path
        rows.append(row)
    for name, follows in (("the spec", _is("JobSpec")), ("the scores", _is("ScoreMatrix"))):
        with CallPath(follows) as paths[f"{name} through build_report"]:
            build_report(job_id="j", spec=draft.spec, status="completed", rows=rows, planned=len(rows))
    scene = samples.get(samples.refs[0].sample_id).scene
    first, second = [camera.id for camera in scene.cameras][:2]
    for name, arguments in (
        ("distance", {"start": {"camera": first}, "end": {"camera": second}}),
        ("forecast_arrival", {"at": {"camera": first}, "time_s": 0, "speed_mps": 1.5, "cameras": [second]}),
    ):
        toolbox = Toolbox([TOOLS.get(name)], ToolContext(scene=scene))
        toolbox.call(name, json.dumps(arguments))
        with CallPath() as paths[f"arguments of {name}"]:
            toolbox.call(name, json.dumps(arguments))
    store.close()
    return paths
