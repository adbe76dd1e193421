"""Chaos: faults that are planted while real workers run a job, and what must hold all the same."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gnomon.core.row import Row
from gnomon_service.reports import report_of
from gnomon_workers.store import JobRecord, Store
from tests.workers.conftest import wait_until
from tests.workers.faults import Inject
from tests.workers.scene import Scene

HEADER = """\
| fault | lost, of planned | doubled | missing | run again | seconds | tokens: served; told spent, possibly |
|---|---|---|---|---|---|---|"""
OPTIONS = {"replies": [{"draw": {"A": 2, "B": 1}}], "usd": 0.001}
DRAWN: dict[str, Any] = {"id": "scripted", "options": OPTIONS}
SLOW: dict[str, Any] = {"id": "scripted", "options": {**OPTIONS, "delay_s": 0.1}}
AMPLE = {"tokens": 10_000_000}  # a limit, so that what calls may cost is counted


@dataclass(frozen=True)
class Damage:
    """What a fault has done: `recovery_s` from the fault until all that was in flight then had ended.

    Tokens: what the provider has `served`, and what the job tells as `spent` and as `possible` beside that.
    Nothing is served where the model is no provider.
    """

    fault: str
    planned: int
    lost: int
    duplicated: int
    missing: int
    rerun: int
    recovery_s: float
    served: int = 0
    spent: int = 0
    possible: int = 0

    @property
    def is_told_right(self) -> bool:
        """Whether the job tells no more as spent than was served, and with what is possible no less."""
        return not self.served or self.spent <= self.served <= self.spent + self.possible

    def __str__(self) -> str:
        tokens = f"{self.served:,}; {self.spent:,}, {self.possible:,}" if self.served else "–"
        return (
            f"| {self.fault} | {self.lost} of {self.planned:,} | {self.duplicated} | {self.missing} "
            f"| {self.rerun} | {self.recovery_s:.1f} | {tokens} |"
        )


class Stand:
    """A scene in which one fault comes after another, and the report of a job that suffered none.

    Its provider, if it has one, answers after `delay_s`.
    """

    def __init__(
        self, scene: Scene, faults: Mapping[str, Inject], *, samples: int, delay_s: float = 0.1
    ) -> None:
        self.scene, self.faults, self._samples = scene, faults, samples
        if scene.provider is not None:
            scene.provider.delay_s = delay_s
        clean = scene.end_of(self._post(), within_s=600.0)
        self._expected = plain_report(scene.store, clean.id)

    def suffer(self, name: str, *, within_s: float) -> Damage:
        """Plant a fault while another such job runs; its report must be the same."""
        before = self._served()
        job = self._post()
        damage = suffer(self.scene, name, self.faults[name], job, within_s=within_s)
        ended = self.scene.store.job(job.id)
        spent = {"spent": ended.known_tokens, "possible": ended.possible_tokens}
        damage = replace(damage, served=self._served() - before, **spent)
        assert plain_report(self.scene.store, job.id) == self._expected, f"{name}: another report"
        return damage

    def _post(self) -> JobRecord:
        provider = self.scene.provider
        model = SLOW if provider is None else {"id": "openai/m", "api_base": provider.url, "max_tokens": 10}
        return self.scene.post(self._samples, models=[model], concurrency=4, limits=AMPLE, cache=False)

    def _served(self) -> int:
        """Tokens."""
        provider = self.scene.provider
        return 0 if provider is None else provider.served * sum(provider.tokens)


def poisoned(scene: Scene, *, samples: int) -> Damage:
    """A sample that kills its worker each time: only its own trials may be missing, one for each arm."""
    deadly = {"rules": [{"contains": "Question s3:", "replies": ["KILL"]}]}
    began_s = time.monotonic()
    model = {**SLOW, "options": {**SLOW["options"], **deadly}}
    job = scene.end_of(scene.post(samples, models=[model], concurrency=4), within_s=600.0)
    rows = list(scene.store.iter_rows(job.id))
    missing = [(row.sample_id, row.stop_reason) for row in rows if row.outcome.value == "infra_missing"]
    assert missing == [("s3", "worker_lost")] * 2, "an innocent trial was set aside"
    return count("a sample that kills its worker", rows, job, time.monotonic() - began_s)


def suffer(scene: Scene, name: str, inject: Inject, job: JobRecord, *, within_s: float) -> Damage:
    """Plant the fault while the job runs, wait for the job's end, and count."""
    wait_until(lambda: scene.done(job) > job.counts.planned // 10, within_s=within_s)
    in_flight = scene.in_flight(job)
    began_s = time.monotonic()
    inject(scene)
    wait_until(lambda: scene.have_ended(in_flight) and scene.is_ready(), within_s=within_s)
    recovery_s = time.monotonic() - began_s
    scene.end_of(job, within_s=within_s)
    return count(name, list(scene.store.iter_rows(job.id)), job, recovery_s)


def count(name: str, rows: list[Row], job: JobRecord, recovery_s: float) -> Damage:
    """Compare the rows with the plan."""
    ids = [row.trial_id for row in rows]
    return Damage(
        fault=name,
        planned=job.counts.planned,
        lost=job.counts.planned - len(set(ids)),
        duplicated=len(ids) - len(set(ids)),
        missing=sum(row.outcome.value == "infra_missing" for row in rows),
        rerun=sum(row.attempt > 1 for row in rows),
        recovery_s=recovery_s,
    )


def plain(rows: list[Row]) -> list[Row]:
    """What a run has found, without what a fault may change: times, attempts, cost, order, names."""
    blank = {
        "wall_s": 0.0,
        "attempt": 0,
        "usd": 0.0,
        "job_id": "",
        "trial_id": "",
        "started_at": None,
        "ended_at": None,
    }
    return sorted(
        (replace(row, **blank) for row in rows),
        key=lambda row: (row.sample_id, row.arm, row.model, row.repeat),
    )


TIMES = (
    "arm_runs",
    "pair_runs",
    "prices",
    "latency",
    "methods",
)  # parts of a report that tell when trials ran


def plain_report(store: Store, job_id: str) -> Any:
    """A job's report as JSON, without what a fault may change: times, seal, attempts, cost, the job's id.

    `frontier` sets gains against seconds and dollars.
    """
    return _without(
        report_of(store, job_id),
        {"cost", "frontier", "id", "baseline_trial", "variant_trial", "seal", *TIMES},
    )


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return [_without(item, names) for item in value] if isinstance(value, list) else value
