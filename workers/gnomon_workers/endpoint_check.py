"""Checks by real calls what the endpoints of a spec, or of one model, are fit for; no queue, no store.

`python -m gnomon_workers.endpoint_check` reads a spec on stdin, whose endpoints have been allowed, and
prints the document as JSON: so the API checks, which loads no models, and ends the process when nobody
waits for it.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from typing_extensions import TypedDict

from gnomon.core.errors import GnomonError
from gnomon.core.model import SLOW_S, Model, Reply, Request, built_in_text
from gnomon.fitness.examine import SHORT_TOKENS, Examination
from gnomon.fitness.findings import judge
from gnomon.fitness.needs import Needs, needs_of_model, needs_of_spec
from gnomon.fitness.pictures import pictures_in
from gnomon.fitness.table import Fitness
from gnomon.media import MediaStore
from gnomon.spec.environment import Variable, variables_in_use
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.catalog import client_of, open_model
from gnomon_workers.open_job import OpenJob, media_of, open_spec
from gnomon_workers.preflight import ask
from gnomon_workers.redacted_model import redacted

T = TypeVar("T")
Say = Callable[[str], None]


class NotChecked(TypedDict):
    """A model that no endpoint is asked for, and why."""

    model: str
    reason: str


class CheckDocument(TypedDict):
    """What came of a check: `fit` where every endpoint is fit for what is asked of it."""

    fit: bool
    models: list[Fitness]
    not_checked: list[NotChecked]
    environment: list[Variable]


def check_spec(job: OpenJob, *, say: Say = lambda _: None) -> CheckDocument:
    """Check the models that a spec calls for what its arms need; `say` gets what takes long."""
    spec, media = job.bench.spec, job.bench.media
    called = {model.label for model in spec.called_models.values()}
    asked = {
        model.label: (model, needs_of_spec(spec, model, job.samples)) for model in spec.called_models.values()
    }
    uncalled = [
        NotChecked(model=model.label, reason="agents from outside ask it, Gnomon does not")
        for model in spec.all_models
        if model.label not in called
    ]
    return _check(list(asked.values()), uncalled, media, say)


def check_model(model: ModelSpec, media: MediaStore, *, say: Say = lambda _: None) -> CheckDocument:
    """Check one model for all there is; it is fit where it answers and calls tools natively."""
    return _check([(model, needs_of_model(model))], [], media, say)


def _check(
    asked: Sequence[tuple[ModelSpec, Needs]], uncalled: list[NotChecked], media: MediaStore, say: Say
) -> CheckDocument:
    built_in = [
        NotChecked(model=model.label, reason=reason)
        for model, _ in asked
        if (reason := built_in_text(model.id).partition(",")[0])
    ]
    open_ = [(model, needs) for model, needs in asked if not built_in_text(model.id)]
    fitness = asyncio.run(_examine_all(open_, media, say))
    return {
        "fit": all(each["fit"] for each in fitness),
        "models": fitness,
        "not_checked": [*built_in, *uncalled],
        "environment": variables_in_use(
            [model for model, _ in open_],
            by_litellm=[model.label for model, _ in open_ if client_of(model) == "litellm"],
        ),
    }


async def _examine_all(
    asked: Sequence[tuple[ModelSpec, Needs]], media: MediaStore, say: Say
) -> list[Fitness]:
    return [await _examine(model, needs, media, say) for model, needs in asked]


async def _examine(spec: ModelSpec, needs: Needs, media: MediaStore, say: Say) -> Fitness:
    short = spec.model_copy(update={"max_tokens": SHORT_TOKENS})
    models = [redacted(open_model(each, media), spec) for each in (spec, short)]
    waits = _Waits(spec.label, say)
    ask_long, ask_short = (partial(_replied, model, waits) for model in models)
    pictures = pictures_in(media)
    try:
        heard = await Examination(ask_long, needs, says=waits.begin).wholly(ask_short, pictures)
        return judge(heard, needs, model=spec.label)
    finally:
        for model in models:
            await model.close()


class _Waits:
    """Says of one endpoint what it is waited for, where that takes long."""

    def __init__(self, label: str, say: Say) -> None:
        self._label, self._say, self._what = label, say, ""

    def begin(self, what: str) -> None:
        self._what = what

    async def over(self, waited_for: Awaitable[T]) -> T:
        task, began_s = asyncio.ensure_future(waited_for), time.monotonic()
        try:
            while not (await asyncio.wait([task], timeout=SLOW_S))[0]:
                seconds = time.monotonic() - began_s
                self._say(f"waiting for {self._label}: {self._what}, {seconds:.0f} s, no reply yet")
            return task.result()
        finally:
            task.cancel()


async def _replied(model: Model, waits: _Waits, request: Request) -> Reply:
    return (await waits.over(ask(model, request))).outcome()


def main() -> None:
    """Check the spec on stdin."""
    spec = JobSpec.model_validate_json(sys.stdin.buffer.read())
    data_dir = Path(os.environ.get("GNOMON_DATA_DIR") or ".gnomon")
    try:
        document = check_spec(open_spec(spec, media_of(data_dir)))
    except GnomonError as error:
        raise SystemExit(str(error)) from None
    sys.stdout.write(json.dumps(document))


if __name__ == "__main__":
    main()
