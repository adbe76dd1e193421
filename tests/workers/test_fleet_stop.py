"""A small fleet starts, loses Redis's memory and half of its workers, and leaves: every trial ends once."""

from pathlib import Path

from gnomon_workers.settings import Timing
from tests.workers.fleet import PROCESSES, SHARDS, TRIALS, stop_of
from tests.workers.pgbouncer import PgBouncer

WORKERS = 2 * PROCESSES
TIMING = Timing(lease_s=4.0)


def test_no_trial_is_lost_and_none_doubled(pooler: PgBouncer, redis_url: str, tmp_path: Path) -> None:
    outcome = stop_of(WORKERS, pooler.emptied(), redis_url, tmp_path, TIMING)
    planned = WORKERS * SHARDS * TRIALS
    assert (outcome.planned, outcome.results, outcome.distinct) == (planned, planned, planned)
    assert outcome.lost_trials > 0
    assert outcome.forgotten == WORKERS * (SHARDS - 1)
