"""Several machines against one PostgreSQL and one Redis: the same promise over a network that fails."""

from collections.abc import Iterator

import pytest

from tests.workers.chaos import Stand
from tests.workers.conftest import QUICK
from tests.workers.sites import SITES

FAULTS = ["partition of a machine", "answers to a machine lost", "slow link, 50 kB/s"]


@pytest.fixture(scope="module")
def stand(request: pytest.FixtureRequest) -> Iterator[Stand]:
    try:
        with SITES[request.param]({**QUICK, "GNOMON_LEASE_SECONDS": "3"}) as (scene, faults):
            yield Stand(scene, faults, samples=60)
    except PermissionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("stand", ["two machines"], indirect=True, scope="module")
def test_a_network_that_fails_loses_no_trial_and_doubles_none(stand: Stand, name: str) -> None:
    assert_nothing_lost(stand, name)


# Behind proxies a partition takes half a minute.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if "answers" in name else pytest.mark.soak) for name in FAULTS],
)
@pytest.mark.parametrize("stand", ["two machines behind proxies"], indirect=True, scope="module")
def test_proxies_that_fail_lose_no_trial_and_double_none(stand: Stand, name: str) -> None:
    assert_nothing_lost(stand, name)


def assert_nothing_lost(stand: Stand, name: str) -> None:
    damage = stand.suffer(name, within_s=90.0)
    assert (damage.lost, damage.duplicated, damage.missing) == (0, 0, 0), str(damage)
    assert damage.is_told_right, str(damage)


def test_a_worker_whose_clock_is_off_runs_its_share_and_no_trial_twice() -> None:
    try:
        with SITES["two clocks"]({**QUICK, "GNOMON_LEASE_SECONDS": "20"}) as (scene, faults):
            damage = Stand(scene, faults, samples=60).suffer(*faults, within_s=90.0)
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
