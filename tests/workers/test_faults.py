"""Faults while a job runs: nothing lost, nothing twice, no trial blamed for what others did to it.

`make soak` runs the same with the clocks of production, and then one long job under faults without end.
`python -m tests.workers.fault_table` prints what each has cost.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.workers.chaos import Damage, plain_report, suffer
from tests.workers.conftest import QUICK
from tests.workers.fault_table import (
    SLOW,
    SOAK_CLOCKS,
    all_faults,
    long_run,
    postgres_scene,
    sqlite_scene,
)
from tests.workers.faults import ON_POSTGRESQL, ON_SQLITE, Inject
from tests.workers.scene import Scene

SAMPLES, SLOW_S, PROMISED_S, SOAK_TRIALS = 40, 90.0, 30.0, 100_000
SCENES = {"sqlite": sqlite_scene, "postgresql": postgres_scene}
# What depends on the database; all others are planted over SQLite.
SHORT_ON_POSTGRESQL = sorted(ON_POSTGRESQL.keys() - ON_SQLITE.keys() | {"answers of commits lost"})


class Stand:
    """A scene in which one fault comes after another, and the report of a job that suffered none."""

    def __init__(self, scene: Scene, faults: Mapping[str, Inject]) -> None:
        self.scene, self.faults = scene, faults
        clean = scene.end_of(self.post())
        self.expected = plain_report(scene.store, clean.id)

    def post(self) -> Any:
        return self.scene.post(SAMPLES, models=[SLOW], concurrency=4)

    def check(self, name: str) -> None:
        if name not in self.faults:
            pytest.skip("this user may not mount a disk")
        job = self.post()
        damage = suffer(self.scene, name, self.faults[name], job, within_s=SLOW_S)
        assert_nothing_lost(damage)
        assert plain_report(self.scene.store, job.id) == self.expected


def assert_nothing_lost(damage: Damage) -> None:
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0), str(damage)


@pytest.fixture(scope="module")
def on_sqlite() -> Iterator[Stand]:
    with sqlite_scene(QUICK) as (scene, faults):
        yield Stand(scene, faults)


@pytest.fixture(scope="module")
def on_postgresql() -> Iterator[Stand]:
    with postgres_scene(QUICK) as (scene, faults):
        yield Stand(scene, faults)


@pytest.mark.parametrize("name", ON_SQLITE)
def test_a_fault_loses_no_trial_doubles_none_and_changes_no_report(on_sqlite: Stand, name: str) -> None:
    on_sqlite.check(name)


@pytest.mark.parametrize("name", SHORT_ON_POSTGRESQL)
def test_a_fault_on_postgresql_loses_no_trial_doubles_none_and_changes_no_report(
    on_postgresql: Stand, name: str
) -> None:
    on_postgresql.check(name)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("database", SCENES)
def test_with_the_clocks_of_production_every_fault_is_over_soon(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with SCENES[database]({}) as (scene, faults):
        for damage in all_faults(scene, faults, samples=400):
            with capsys.disabled():
                sys.stdout.write(f"\n{damage}")
            assert_nothing_lost(damage)
            if "worker and horse SIGKILL" in damage.fault:
                assert damage.recovery_s <= PROMISED_S


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("database", SCENES)
def test_a_long_job_under_faults_without_end_finds_what_a_clean_one_finds(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with SCENES[database](SOAK_CLOCKS) as (scene, faults):
        damage, log = long_run(scene, faults, trials=SOAK_TRIALS, seed=7)
    with capsys.disabled():
        sys.stdout.write(f"\n{damage}\n{dict(sorted(log.items()))}\n")
    assert_nothing_lost(damage)
