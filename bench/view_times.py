"""Measures how long the questions of the web page take on a job of 100,000 or a million trials over SQLite.

    .venv/bin/python -m bench.view_times [--rows 100000 | 1000000] [--rounds 30] [--database FILE] [--http]

Two models × two arms over 14 cells, with flags, tools and answers. `first` is the first time on an index that
has just been made, when nothing is worked out yet; p50 and p95 are of later rounds, each with other filters
or another place in the list. All are CPU milliseconds of the thread that asks: other programs do not count.
Then come bare SQL queries on the same database: what they compare with. With `--http` whole answers of every
read-only route are measured instead, as a `gnomon api` sends them to one reader: see `bench.view_routes`.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from sqlalchemy import text

from bench.view_routes import measure_routes
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.report.trial_index.columns import STORED_COLUMNS
from gnomon.report.trial_index.filters import TrialFilter
from gnomon.report.trial_index.index import PAIR_SORTS, TRIAL_SORTS, TrialIndex
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import expand_trials
from service.derived_kinds import indexes_of
from workers.store import Store
from workers.store.missing import missing_row

CELLS, FLAGS, TOOLS = 14, ("clipped", "times_early", "reply_cut"), ("lookup", "list_cameras", "project_track")
MODELS, ARMS = ("small", "large"), ("raw", "tools")
PAIR = TrialFilter(baseline=ARMS[0], variant=ARMS[1])
SPEC = JobSpec.model_validate(
    {
        "benchmark": "worlds",
        "models": [{"id": "scripted", "name": name, "options": {"replies": ["A"]}} for name in MODELS],
        "arms": [{"name": name, "agent": "direct"} for name in ARMS],
    }
)


def seed(store: Store, samples: int) -> str:
    """The id of a finished job over so many samples."""
    refs = [
        SampleRef(
            sample_id=f"w{n % 7}-{n:06}", task=f"T{n % 7}", cell=f"c{n % CELLS:02}", cluster=f"v{n // 5}"
        )
        for n in range(samples)
    ]
    return store.insert_finished_job(SPEC, refs, ((row, None) for row in _rows(refs)))


def _rows(refs: list[SampleRef]) -> Iterator[Row]:
    random = np.random.default_rng(0)
    for trial in expand_trials("j", SPEC, refs):
        row = missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1)
        has_tools = trial.arm == "tools"
        luck, calls = random.random(), int(random.integers(1, 9)) if has_tools else 0
        if luck < 0.01:
            yield replace(row, stop_reason="provider:connection", error="gone")
            continue
        used = [name for name in TOOLS if random.random() < 0.5] if has_tools else []
        yield replace(
            row,
            outcome=Outcome.MODEL_FAILED if luck < 0.03 else Outcome.SCORED,
            stop_reason="max_turns" if luck < 0.03 else "answered",
            score=0.0 if luck < 0.03 else round(random.random() ** (1 if has_tools else 2), 3),
            answer=f"{'ABCD'[int(4 * luck)]}, {random.random():.3f}",
            flags=tuple(flag for flag in FLAGS if random.random() < 0.1),
            tools_used={name: {"calls": calls, "bad_arguments": 0, "errors": 0} for name in used},
            tool_calls=calls,
            usd=random.random() / 100,
            wall_s=random.random() * 20,
        )


def questions(index: TrialIndex) -> dict[str, Callable[[int], object]]:
    """What a page asks, by name; each takes the number of the round."""
    ids = index.sample_ids
    cells = list(index.values_of("cell"))
    mixed = [
        replace(PAIR, arm=("tools",)),
        replace(PAIR, changed=("fixed",)),
        replace(PAIR, flag=("clipped",), outcome=("scored",)),
        replace(PAIR, tool=("lookup",), model=("small",), changed=("regressed", "both_wrong")),
    ]

    def filters(n: int) -> TrialFilter:
        return replace(mixed[n % len(mixed)], cell=(cells[n % CELLS],))

    cursors: list[str | None] = [None]

    def deep(n: int) -> object:
        while len(cursors) < 40 and (after := index.trials(PAIR, "-score", cursors[-1], 500).next_cursor):
            cursors.append(after)  # in the rounds that are not counted
        return index.trials(PAIR, "-score", cursors[n * 7 % len(cursors)])

    return {
        "facets, no filter": lambda n: index.facets(PAIR),
        "facets, two to four filters": lambda n: index.facets(filters(n)),
        "facets, text search": lambda n: index.facets(replace(PAIR, q=f"{n % 100:02}")),
        "100 trials, any order": lambda n: index.trials(PAIR, TRIAL_SORTS[n % len(TRIAL_SORTS)]),
        "100 trials, deep in the list": deep,
        "100 trials, filtered": lambda n: index.trials(filters(n), "-cost"),
        "100 trials, text search": lambda n: index.trials(replace(PAIR, q=f"b, 0.{n % 10}"), "score"),
        "100 pairs, any order": lambda n: index.pairs(PAIR, PAIR_SORTS[n % len(PAIR_SORTS)]),
        "100 pairs, filtered": lambda n: index.pairs(filters(n), "-difference"),
        "a sample": lambda n: index.sample(ids[n * 7919 % len(ids)]),
        "neighbours among pairs": lambda n: index.neighbours(
            filters(n), "-difference", ids[n * 7919 % len(ids)]
        ),
        "neighbours among all trials": lambda n: index.neighbours(PAIR, "-time", ids[n * 7919 % len(ids)]),
    }


FLOOR = {
    "SQL: 100 rows by keyset": "SELECT trial_id, sample_id, model, arm, outcome, score FROM results"
    " WHERE job_id = :job AND seq > :seq ORDER BY seq LIMIT 100",
    "SQL: one GROUP BY": "SELECT arm, outcome, count(*) FROM results WHERE job_id = :job GROUP BY 1, 2",
    "SQL: count(*)": "SELECT count(*) FROM results WHERE job_id = :job",
}


def timed(ask: Callable[[], object], clock: Callable[[], float] = time.thread_time) -> float:
    start = clock()
    ask()
    return 1_000 * (clock() - start)


def line(name: str, times: list[float], first: float | None = None) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    shown = "" if first is None else f"{first:.1f}"
    print(f"| {name} | {shown} | {p50:.1f} | {p95:.1f} |")


def measure(store: Store, job: str, rounds: int) -> None:
    """Print the table."""
    count = store.job(job).counts.done
    print(f"| {count:,} trials | first ms | p50 ms | p95 ms |\n|---|---|---|---|")
    few = max(3, rounds // 10)
    build = [timed(lambda: indexes_of(_Forgetful(store.url)).get(job)) for _ in range(few)]
    line("an index, from results", build)
    kept = indexes_of(store)
    kept.get(job)
    line("an index, from the store", [timed(lambda: indexes_of(store).get(job)) for _ in range(few)])
    line("an index, already there", [timed(lambda: kept.get(job)) for _ in range(rounds)])
    body = kept.get(job).value.to_bytes()
    rows = [row for batch in store.iter_columns(job, 0, STORED_COLUMNS) for row in batch]
    latest = TrialIndex.empty(MODELS, ARMS).extended([rows[: -100 * rounds]])

    def after_new_results(start: int) -> None:
        nonlocal latest
        latest = latest.extended([rows[start : start + 100]])
        latest.facets(PAIR)
        latest.pairs(PAIR)

    starts = range(count - 100 * rounds, count, 100)
    line(
        "facets and 100 pairs after 100 new results",
        [timed(lambda start=start: after_new_results(start)) for start in starts],
    )
    index = TrialIndex.from_bytes(body)
    for name, ask in questions(index).items():
        fresh = TrialIndex.from_bytes(body)
        cold = timed(lambda fresh=fresh, name=name: questions(fresh)[name](0)) if "deep" not in name else None
        for n in range(len(TRIAL_SORTS)):
            ask(n)
        line(name, [timed(lambda n=n, ask=ask: ask(n)) for n in range(rounds)], cold)
    with store.reading() as db:
        for name, query in FLOOR.items():
            ask_database = partial(db.execute, text(query))
            places = [{"job": job, "seq": 997 * n} for n in range(rounds)]
            line(name, [timed(lambda place=place, ask=ask_database: ask(place).all()) for place in places])
    print(f"| ({index.nbytes / count:.0f} bytes per trial in memory, {len(body) / count:.0f} kept) | | | |")


class _Forgetful(Store):
    """A store that keeps no index."""

    def kept(self, job_id: str, kind: str, stamp: str) -> bytes | None:
        return None

    def keep(self, job_id: str, kind: str, stamp: str, body: bytes) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--rows", type=int, default=100_000)
    sizes.add_argument("--samples", type=int)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--database", type=Path, help="keep it here, and use it again")
    parser.add_argument("--http", action="store_true", help="each route of a `gnomon api`, first and median")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = options.database or Path(folder) / "views.db"
        store = Store(f"sqlite:///{database}")
        jobs = store.jobs(limit=1).items
        job = (
            jobs[0].id if jobs else seed(store, options.samples or options.rows // (len(MODELS) * len(ARMS)))
        )
        if not options.http:
            measure(store, job, options.rounds)
        store.close()
        if options.http:
            measure_routes(database, job, options.rounds, models=MODELS, arms=ARMS, cells=CELLS)


if __name__ == "__main__":
    main()
