"""Measures how long pages and answers about a job of 100,000 trials take, as a `gnomon api` sends them.

    python -m bench.view_times [--rows 100000] [--rounds 20]

Two models, two arms, 14 cells. For each address: its first look, and median and slowest of later looks, each
with other filters or another place in a list, as wall milliseconds of one reader. `/healthz` is the floor.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from bench.finished_jobs import CELLS, insert_job
from bench.servers import queue, running_api
from bench.tables import head_of, line_of, parser_of, tell

FLOOR = "health, the floor"
CHANGES = ("fixed", "regressed", "both_wrong")
SETTLE_S = 10.0  # what a service does after its start
MODELS, ARMS = 2, 2
ADDRESSES = {
    FLOOR: "/healthz",
    "jobs": "/v1/jobs",
    "a job": "/v1/jobs/{job}",
    "100 rows": "/v1/jobs/{job}/trials?cursor={place}",
    "100 rows that failed": "/v1/jobs/{job}/trials?outcome=model_failed",
    "rows of no arm": "/v1/jobs/{job}/trials?arm=none-{place}",
    "pairs as JSON": "/ui/jobs/{job}/trials.json?cell={cell}",
    "a trial": "/v1/trials/{trial}",
    "page of jobs": "/",
    "page of the job": "/ui/jobs/{job}",
    "the report": "/v1/jobs/{job}/report",
    "page of pairs": "/ui/jobs/{job}/trials",
    "page of pairs, filtered": "/ui/jobs/{job}/trials?changed={change}&cell={cell}&sort=-difference",
    "page of pairs, text search": "/ui/jobs/{job}/trials?q={place}",
    "page of trials": "/ui/jobs/{job}/trials?view=trials&sort=-score",
    "page of a sample": "/ui/jobs/{job}/samples/{sample}",
    "page of a trial": "/ui/trials/{trial}",
    "page of two trials": "/ui/compare/trials?a={trial}&b={other}",
    "board": "/ui/board",
    "page of a new job": "/ui/new",
    "page of tools": "/ui/tools",
}


def look(connection: HTTPConnection, address: str) -> tuple[float, bytes]:
    """Wall milliseconds of an answer, and the answer.

    Raises:
        SystemExit: it was none.
    """
    accept = "application/json" if address.startswith("/v1/") else "text/html"
    began_s = time.perf_counter()
    connection.request("GET", address, headers={"Accept": accept})
    response = connection.getresponse()
    body = response.read()
    if response.status != HTTPStatus.OK:
        raise SystemExit(f"{address}: {response.status} {body[:200]!r}")
    return 1_000 * (time.perf_counter() - began_s), body


def fields_of(job: str, rows: list[Mapping[str, Any]], number: int) -> dict[str, object]:
    """What addresses of a round are filled with."""
    row = rows[7 * number % len(rows)]
    beside = next(
        each for each in rows if each["sample_id"] == row["sample_id"] and each["arm"] != row["arm"]
    )
    return {
        "job": job,
        "place": 1 + 37 * number,
        "cell": f"c{number % CELLS:02}",
        "change": CHANGES[number % len(CHANGES)],
        "sample": row["sample_id"],
        "trial": row["trial_id"],
        "other": beside["trial_id"],
    }


def measure(connection: HTTPConnection, job: str, rounds: int) -> None:
    """Print a row for each address."""
    rows = json.loads(look(connection, f"/v1/jobs/{job}/trials?limit=100")[1])["items"]
    tell(head_of(["milliseconds", "first", "median", "slowest later"]))
    for name, address in ADDRESSES.items():
        first, *later = (
            look(connection, address.format(**fields_of(job, rows, number)))[0]
            for number in range(rounds + 1)
        )
        tell(line_of([name, *(f"{each:.0f}" for each in (first, statistics.median(later), max(later)))]))


def main() -> None:
    """Fill a store, start the API over it and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    samples = options.rows // (MODELS * ARMS)
    with tempfile.TemporaryDirectory() as folder, queue() as redis_url:
        job = insert_job(f"sqlite:///{folder}/gnomon.db", samples=samples, models=MODELS, arms=ARMS)
        with running_api(redis_url, folder) as url:
            time.sleep(SETTLE_S)
            with closing(HTTPConnection(urlsplit(url).netloc)) as connection:
                measure(connection, job, options.rounds)


if __name__ == "__main__":
    main()
