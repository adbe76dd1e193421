"""Runs queue, sweeper and workers as children of this process, for `run`, `demo` and `up`."""

import importlib
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from redis import Redis, RedisError

from gnomon.core.errors import SpecError
from gnomon.spec.job_spec import JobSpec
from gnomon_service.data_folder import UMASK
from gnomon_service.redis_server import RedisServer
from gnomon_service.settings import Settings
from gnomon_service.supervisor import Child, Supervisor
from gnomon_workers.process import module_command
from gnomon_workers.queue import client_of
from gnomon_workers.store.store import Store, open_store

WORKER = "gnomon_workers.__main__"  # by name: a service starts without agents
MAX_DEFAULT_WORKERS = 4
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStack:
    """An open store and queue, and the supervisor of the processes that use them."""

    settings: Settings
    store: Store
    redis: Redis
    redis_url: str
    supervisor: Supervisor

    def start_workers(self, count: int, queues: Sequence[str], *, fork_for: JobSpec | None = None) -> None:
        """Start the sweeper and `count` workers that listen to `queues`.

        To run one job, workers are forks: this process imports all that the job's trials need, once for all
        of them. A service holds keys and a socket that its workers should not have: they are commands.
        """
        is_fork = fork_for is not None
        self.start_sweeper(is_fork=is_fork)
        if fork_for is not None:
            _import_for(fork_for)
        for number in range(1, count + 1):
            self._start(f"worker-{number}", WORKER, "--queues", ",".join(queues), is_fork=is_fork)

    def start_sweeper(self, *, is_fork: bool = False) -> None:
        """Start the sweeper alone."""
        self._start("sweeper", "gnomon_workers.sweeper", is_fork=is_fork)

    def _start(self, name: str, module: str, *arguments: str, is_fork: bool) -> None:
        if is_fork:
            self.store.close()  # a fork must not meet SQLite's view of which files are open and locked
        self.supervisor.start(
            Child(
                name=name,
                command=module_command(module, *arguments),
                main=partial(_run_module, module, arguments) if is_fork else None,
                env=worker_env(self.settings, self.redis_url),
                log_file=self.settings.data_dir / "logs" / f"{name}.log",
            )
        )


def _import_for(spec: JobSpec) -> None:
    """Import what a worker would; what fails here fails there too, and is told there."""
    try:
        importlib.import_module(WORKER).load_for(spec)
    except Exception as error:  # noqa: BLE001 (whatever an import raises)
        log.info("left to the workers: %r", error)


def _run_module(module: str, arguments: Sequence[str]) -> None:
    """What `python -m module` with these arguments does."""
    importlib.import_module(module).main(arguments, prog_name=f"python -m {module}")


def worker_env(settings: Settings, redis_url: str) -> dict[str, str]:
    """The addresses that a worker or sweeper needs, as variables: options would show passwords in `ps`."""
    return {
        "GNOMON_API_KEYS": "",  # workers have no use for the callers' keys
        "GNOMON_API_KEYS_FILE": "",
        "GNOMON_WEBHOOKS": "",  # the process of the API tells what becomes of jobs
        "GNOMON_WEBHOOK_SECRET": "",
        "GNOMON_REDIS_URL": redis_url,
        "GNOMON_DATABASE_URL": settings.database_url,
        "GNOMON_DATA_DIR": str(settings.data_dir),
    }


def default_workers() -> int:
    """One per core, at most MAX_DEFAULT_WORKERS."""
    return min(MAX_DEFAULT_WORKERS, os.cpu_count() or 1)


@contextmanager
def local_stack(settings: Settings) -> Iterator[LocalStack]:
    """Open the store and a queue: the one at GNOMON_REDIS_URL, else the data folder's own Redis.

    Raises:
        Conflict: another process owns the queue of this data folder.
        SpecError: the Redis at GNOMON_REDIS_URL does not answer.
    """
    with ExitStack() as stack:
        stack.callback(os.umask, os.umask(UMASK))  # what is written here is in the data folder
        if settings.redis_url is None:
            server = RedisServer(settings.data_dir, supervisor=(supervisor := Supervisor()))
            stack.callback(server.stop)  # releases the folder, after its children have ended
            stack.callback(supervisor.stop)
            url = server.start()
        else:
            supervisor = stack.enter_context(Supervisor())
            url = settings.redis_url
        redis = open_redis(url)
        stack.callback(redis.close)
        store = open_store(settings.database_url)
        stack.callback(store.close)
        store.check_integrity()
        yield LocalStack(settings=settings, store=store, redis=redis, redis_url=url, supervisor=supervisor)


def open_redis(url: str) -> Redis:
    """A client of the Redis at `url`.

    Raises:
        SpecError: the server does not answer.
    """
    try:
        redis = client_of(url)
        redis.ping()
    except (ValueError, RedisError) as error:
        raise SpecError(f"Redis does not answer: {type(error).__name__}", field="GNOMON_REDIS_URL") from None
    return redis
