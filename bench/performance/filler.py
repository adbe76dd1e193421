"""Writes a job's results, the first ones in bulk, the last LEASED as workers do.

    python -m bench.performance.filler DATABASE_URL JOB

Says `filled` when the bulk is in, and at last the CPU microseconds a trial that was leased and finished took.
Leasing a million trials would take three minutes of CPU and make the same rows.
"""

import sys
import time
from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import select, update

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.trials.trial_plan import Trial
from workers.store import JobRecord, Store
from workers.store.database import insert_all
from workers.store.job_counters import Usage, add_results
from workers.store.missing import missing_row
from workers.store.schema import PENDING, results, traces, trials
from workers.store.serialization import pack, row_values, trial_of

LEASED = 10_000
BATCH = 100  # what a worker writes at once
TRACE = {"prompt": [], "steps": []}


def main() -> None:
    store = Store(sys.argv[1])
    job = store.job(sys.argv[2])
    size = -(-job.counts.planned // job.shards)
    begin = max(job.counts.planned - LEASED, 0) // size
    fill(store, job, range(begin))
    print("filled", flush=True)
    began_s = time.process_time()
    done = lease_and_finish(store, job, range(begin, job.shards))
    print((time.process_time() - began_s) / done * 1e6, flush=True)
    store.close()


def fill(store: Store, job: JobRecord, shards: Iterable[int]) -> None:
    """End all trials of these shards past leases, a shard in a transaction."""
    body = pack(TRACE)
    for shard in shards:
        here = (trials.c.job_id == job.id) & (trials.c.shard == shard) & (trials.c.state == PENDING)
        with store.writing() as db:
            found = db.execute(select(trials).where(here).order_by(trials.c.ordinal)).mappings().all()
            rows = [row_of(trial_of(one)) for one in found]
            db.execute(update(trials).where(here).values(state="done", attempt=1, token=1))
            insert_all(db, results, [row_values(row) for row in rows])
            insert_all(db, traces, [{"trial_id": row.trial_id, "body": body} for row in rows])
            spent = [Usage.by(row) for row in rows]
            add_results(db, job.id, [row.outcome for row in rows], spent)
        store.end_if_over(job.id)


def lease_and_finish(store: Store, job: JobRecord, shards: Iterable[int]) -> int:
    """End all trials of these shards as a worker does; return how many."""
    done = 0
    for shard in shards:
        while leases := store.lease(job.id, shard, worker="filler", ttl_s=600, limit=BATCH):
            store.finish([(lease, row_of(lease.trial), TRACE) for lease in leases])
            done += len(leases)
    return done


def row_of(trial: Trial) -> Row:
    """A trial that was answered, rightly or not as the digits of its id have it."""
    dice = int(trial.trial_id.removeprefix("t_"), 16)
    score = float(dice % 1_000 < (500 if trial.arm == "raw" else 600))
    return replace(
        missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1),
        outcome=Outcome.SCORED,
        score=score,
        metrics={"score": score, "MCQacc": score},
        answer="ABCD"[dice % 4],
        model_calls=1,
        wall_s=dice % 997 / 997,
    )


if __name__ == "__main__":
    main()
