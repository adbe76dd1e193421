"""Several machines against one PostgreSQL and one Redis: the same promise over a network that fails."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.workers.chaos import Stand
from tests.workers.conftest import QUICK
from tests.workers.sites import SITES

FAULTS = ["partition of a machine", "answers to a machine lost", "slow link, 50 kB/s"]
CLOCKS = {**QUICK, "GNOMON_LEASE_SECONDS": "3"}
SAMPLES, DELAY_S = 30, 0.2


@pytest.fixture(scope="module")
def networked() -> Iterator[Stand]:
    """Machines with networks of their own; where this user may not make any, behind proxies."""
    with ExitStack() as stack:
        try:
            scene, faults = stack.enter_context(SITES["two machines"](CLOCKS))
        except PermissionError:
            scene, faults = stack.enter_context(SITES["two machines behind proxies"](CLOCKS))
        yield Stand(scene, faults, samples=SAMPLES, delay_s=DELAY_S)


@pytest.fixture(scope="module")
def behind_proxies() -> Iterator[Stand]:
    with SITES["two machines behind proxies"](CLOCKS) as (scene, faults):
        yield Stand(scene, faults, samples=SAMPLES, delay_s=DELAY_S)


@pytest.mark.parametrize("name", FAULTS)
def test_a_network_that_fails_loses_no_trial_and_doubles_none(networked: Stand, name: str) -> None:
    assert_nothing_lost(networked, name)


@pytest.mark.soak
@pytest.mark.parametrize("name", FAULTS)
def test_proxies_that_fail_lose_no_trial_and_double_none(behind_proxies: Stand, name: str) -> None:
    assert_nothing_lost(behind_proxies, name)


def assert_nothing_lost(stand: Stand, name: str) -> None:
    damage = stand.suffer(name, within_s=90.0)
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0), str(damage)
    assert damage.is_told_right, str(damage)


def test_a_worker_whose_clock_is_off_runs_its_share_and_no_trial_twice() -> None:
    try:
        with SITES["two clocks"]({**QUICK, "GNOMON_LEASE_SECONDS": "20"}) as (scene, faults):
            stand = Stand(scene, faults, samples=12, delay_s=DELAY_S)  # such clocks are slow
            damage = stand.suffer(*faults, within_s=90.0)
            assert len(scene.store.workers()) == 2
    except PermissionError as error:
        pytest.skip(str(error))
    assert (damage.lost, damage.duplicated, damage.missing, damage.rerun) == (0, 0, 0, 0), str(damage)


@pytest.mark.soak
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("site", ["two machines", "two machines behind proxies"])
def test_with_the_clocks_of_production_a_partition_is_over_soon(site: str) -> None:
    with SITES[site]({}) as (scene, faults):
        stand = Stand(scene, faults, samples=400)
        for name in FAULTS:
            damage = stand.suffer(name, within_s=600.0)
            assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0), str(damage)
