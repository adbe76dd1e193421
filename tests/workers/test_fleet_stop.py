"""A small fleet starts, loses Redis's memory and half of its workers, and leaves: every trial ends once."""

from pathlib import Path

import pytest

from bench.fleet_stop import PROCESSES, SHARDS, TRIALS, stop_of
from tests.workers.conftest import SERVERS
from tests.workers.postgresql import PostgreSQL
from workers.settings import Timing

WORKERS = 2 * PROCESSES
TIMING = Timing(lease_s=4.0)


@pytest.mark.parametrize("kind", SERVERS)
def test_no_trial_is_lost_and_none_doubled(
    kind: str, postgres: PostgreSQL, redis_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    pooler = request.getfixturevalue("pooler") if kind == "pgbouncer" else None
    outcome = stop_of(WORKERS, postgres, pooler, redis_url, tmp_path, TIMING)
    planned = WORKERS * SHARDS * TRIALS
    assert (outcome.planned, outcome.results, outcome.distinct) == (planned, planned, planned)
    assert outcome.lost_trials > 0
    assert outcome.forgotten == WORKERS * (SHARDS - 1)
