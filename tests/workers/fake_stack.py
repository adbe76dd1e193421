"""What `gnomon up` is, over the tiny benchmark and a store that a test may break.

`--workers N` makes it the supervisor of N workers, `--sweep` of a sweeper, `--port P` the API too.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import gnomon.benchmarks
from gnomon_service.supervisor import Child, Supervisor, sigterm_as_interrupt
from gnomon_workers.queue import client_of
from tests.workers import tiny_worker
from tests.workers.broken_store import Breakage, BrokenStore

HERE = Path(__file__).parent


def start(supervisor: Supervisor, name: str, given: argparse.Namespace, *more: str) -> None:
    places = ("--redis", given.redis, "--database", given.database, "--data-dir", str(given.data_dir))
    supervisor.start(
        Child(
            name=name,
            command=(sys.executable, str(HERE / "tiny_worker.py"), *places, *more),
            main=partial(tiny_worker.main, [*places, *more]),  # a fork, which need import nothing
            log_file=given.data_dir / "logs" / f"{name}.log",
        )
    )


def serve_api(supervisor: Supervisor, given: argparse.Namespace) -> None:
    from gnomon_service.local_stack import LocalStack  # late: only an API needs them, and they take a second
    from gnomon_service.serving import listen, serve
    from gnomon_service.settings import Settings

    gnomon.benchmarks.__path__.append(str(HERE / "plugged"))
    here = LocalStack(
        settings=Settings(data_dir=given.data_dir, database_url=given.database, redis_url=given.redis),
        store=BrokenStore(given.database, Breakage(given.data_dir)),
        redis=client_of(given.redis),
        redis_url=given.redis,
        supervisor=supervisor,
    )
    with listen("127.0.0.1", given.port, has_keys=False) as listener:
        serve(here, listener, ready=lambda _: None)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--redis", required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--data-dir", required=True, type=Path)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--port", type=int)
    given = parser.parse_args(arguments)
    try:
        with sigterm_as_interrupt(), Supervisor() as supervisor:
            if given.sweep:
                start(supervisor, "sweeper", given, "--sweep")
            for number in range(given.workers):
                start(supervisor, f"worker-{number}", given)
            if given.port is not None:
                serve_api(supervisor, given)
            signal.pause()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
