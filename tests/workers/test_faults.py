"""Faults while a job runs: nothing lost, nothing twice, no trial blamed for what others did to it.

`make soak` runs the same with the clocks of production, and then one long job under faults without end.
`python -m tests.workers.fault_table` prints what each has cost.
"""

import sys
from collections.abc import Iterator

import pytest

from tests.workers.chaos import Damage, Stand, poisoned
from tests.workers.conftest import QUICK
from tests.workers.fault_table import EVERY_S, PACE_HEADER, SOAK_CLOCKS, all_faults, long_run
from tests.workers.faults import ON_POSTGRESQL, ON_SQLITE
from tests.workers.sites import SITES, over_postgresql, over_sqlite

SAMPLES, DELAY_S = 20, 0.2  # a job takes a second, which is enough for a fault to meet it
SLOW_S, PROMISED_S, SOAK_TRIALS = 90.0, 30.0, 100_000
# One that another takes in, or that differs from another by the process it meets: in the soak alone.
pytestmark = pytest.mark.timeout(400)  # the first test waits for a clean run, beside whatever else runs
LONG = {
    "shard process SIGKILL",  # as where a sample kills it
    "Redis SIGKILL",  # as where its log is overwritten afterwards
    "PostgreSQL connections cut",  # as where it is restarted
    "worker SIGKILL",
    "shard process SIGSTOP",
    "worker SIGSTOP",
    "supervisor SIGSTOP",
    "API SIGSTOP",
    "Redis restarted",
    "Redis log cut off",
    "clock an hour on",
    "PostgreSQL can only be read",
    "PostgreSQL fails over to a replica that lags",  # a short job ends before
}
# What depends on the database; all others are planted over SQLite.
SHORT_ON_POSTGRESQL = sorted(ON_POSTGRESQL.keys() - ON_SQLITE.keys() - LONG | {"answers of commits lost"})


def test_a_sample_that_kills_its_worker_is_set_aside_and_no_other(on_sqlite: Stand) -> None:
    damage = poisoned(on_sqlite.scene, samples=20)
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 2), str(damage)


def assert_nothing_lost(damage: Damage) -> None:
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0), str(damage)
    assert damage.is_told_right, str(damage)


@pytest.fixture(scope="module")
def on_sqlite() -> Iterator[Stand]:
    with over_sqlite(QUICK) as (scene, faults):
        yield Stand(scene, faults, samples=SAMPLES, delay_s=DELAY_S)


@pytest.fixture(scope="module")
def on_postgresql() -> Iterator[Stand]:
    with over_postgresql(QUICK) as (scene, faults):
        yield Stand(scene, faults, samples=SAMPLES, delay_s=DELAY_S)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in LONG else ()) for name in ON_SQLITE]
)
def test_a_fault_loses_no_trial_doubles_none_and_changes_no_report(on_sqlite: Stand, name: str) -> None:
    if name not in on_sqlite.faults:
        pytest.skip("this user may not mount a disk")
    assert_nothing_lost(on_sqlite.suffer(name, within_s=SLOW_S))


@pytest.mark.parametrize("name", SHORT_ON_POSTGRESQL)
def test_a_fault_on_postgresql_loses_no_trial_doubles_none_and_changes_no_report(
    on_postgresql: Stand, name: str
) -> None:
    assert_nothing_lost(on_postgresql.suffer(name, within_s=SLOW_S))


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("site", ["SQLite", "PostgreSQL"])
def test_with_the_clocks_of_production_every_fault_is_over_soon(
    site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with SITES[site]({}) as (scene, faults):
        for damage in all_faults(scene, faults, samples=400):
            with capsys.disabled():
                sys.stdout.write(f"\n{damage}")
            assert (damage.lost, damage.duplicated) == (0, 0), str(damage)
            assert damage.missing == (2 if damage.fault.startswith("a sample") else 0), str(damage)
            if damage.fault.endswith("worker and shard process SIGKILL"):
                assert damage.recovery_s <= PROMISED_S


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("site", ["SQLite", "PostgreSQL"])
def test_a_long_job_under_faults_without_end_finds_what_a_clean_one_finds(
    site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with SITES[site](SOAK_CLOCKS) as (scene, faults):
        damage, paces = long_run(scene, faults, trials=SOAK_TRIALS, seed=7, every_s=EVERY_S)
    with capsys.disabled():
        lines = "\n".join(f"| {name} {pace}" for name, pace in sorted(paces.items()))
        sys.stdout.write(f"\n{damage}\n\n{PACE_HEADER}\n{lines}\n")
    assert_nothing_lost(damage)
