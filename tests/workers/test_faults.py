"""Faults while a job runs: nothing lost, nothing twice, no trial blamed for what others did to it.

`make soak` runs the same with the clocks of production, and then one long job under faults without end.
"""

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from service.redis_server import RedisServer
from service.supervisor import Supervisor
from tests.workers.chaos import (
    ANYWHERE,
    ON_POSTGRESQL,
    ON_SQLITE,
    Inject,
    Scene,
    all_at_rest,
    count,
    plain,
    suffer,
)
from tests.workers.conftest import Plant, wait_until
from workers.settings import Timing
from workers.store import Store

MODEL = {"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.1}}
LEASE_S, SLOW_S = 1.5, 90.0
PROMISED_S = 30.0
SOAK_TRIALS, EVERY_S = 100_000, 4.0


@pytest.fixture
def scene(url: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Scene]:
    """Two workers and a sweeper over a database and a Redis of their own."""
    store = Store(url)
    folder = tmp_path / "plant"
    with RedisServer(folder) as server, Redis.from_url(server.url) as redis, Supervisor() as supervisor:
        plant = Plant(store, redis, server.url, folder, supervisor)
        postgres = request.getfixturevalue("postgres") if kind == "postgresql" else None
        scene = Scene(plant, random.Random(1), LEASE_S, server.folder, postgres)
        with all_at_rest(scene):
            yield scene
    store.close()


@pytest.mark.parametrize("name", ON_SQLITE)
def test_a_fault_loses_no_trial_and_doubles_none(scene: Scene, name: str) -> None:
    check(scene, name, ON_SQLITE[name])


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
@pytest.mark.parametrize("name", ON_POSTGRESQL)
def test_a_fault_on_postgresql_loses_no_trial_and_doubles_none(scene: Scene, name: str) -> None:
    check(scene, name, ON_POSTGRESQL[name])


def check(scene: Scene, name: str, inject: Inject) -> None:
    scene.plant.start(2)
    job = scene.plant.post(40, models=[MODEL], concurrency=4)
    damage = suffer(scene, name, inject, job, within_s=SLOW_S)
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0), str(damage)


@pytest.fixture
def slow_scene(scene: Scene) -> Scene:
    """The same with the clocks of production."""
    return replace(scene, plant=replace(scene.plant, clocks={}), lease_s=Timing().lease_s)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ON_SQLITE)
def test_with_the_clocks_of_production_a_fault_is_over_soon(
    slow_scene: Scene, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    slow_scene.plant.start(2)
    job = slow_scene.plant.post(1_500, models=[MODEL], concurrency=4)
    damage = suffer(slow_scene, name, ON_SQLITE[name], job, within_s=300.0)
    with capsys.disabled():
        sys.stdout.write(f"\n{damage}\n")
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0)
    if name == "worker and horse SIGKILL":
        assert damage.recovery_s <= PROMISED_S


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_a_long_job_under_faults_without_end_finds_what_a_quiet_one_finds(
    slow_scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    plant, rng = slow_scene.plant, random.Random(7)
    plant.start(2)
    quick = {"id": "scripted", "options": {"replies": [{"draw": {"A": 2, "B": 1}}], "usd": 0.001}}
    quiet = plant.end_of(plant.post(1_000, models=[quick], concurrency=64))
    job = plant.post(SOAK_TRIALS // 2, models=[quick], concurrency=64)
    log, began_s = [], time.monotonic()
    while plant.store.job(job.id).status not in ("completed", "failed"):
        name = rng.choice(sorted(ANYWHERE))
        ANYWHERE[name](slow_scene)
        log.append(name)
        time.sleep(EVERY_S)
    rows = list(plant.store.iter_rows(job.id))
    damage = count(f"{len(log)} faults in {time.monotonic() - began_s:.0f} s", rows, job, 0.0)
    with capsys.disabled():
        counted = {name: log.count(name) for name in sorted(set(log))}
        sys.stdout.write(f"\n{damage}\n{counted}\n")
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0)
    wait_until(lambda: plant.store.job(job.id).counts.running == 0)
    few = {row.sample_id for row in plant.store.iter_rows(quiet.id)}
    expected = plain(list(plant.store.iter_rows(quiet.id)))
    assert plain([row for row in rows if row.sample_id in few]) == expected
