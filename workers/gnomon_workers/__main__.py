"""`python -m gnomon_workers`: one worker, until it is stopped."""

import os
import socket
from pathlib import Path

import click

from gnomon.core.errors import GnomonError
from gnomon.spec.endpoints import ALLOWED_API_BASES_ENV, parse_allowed
from gnomon.spec.job_spec import JobSpec
from gnomon_workers.logs import set_up_logs
from gnomon_workers.open_job import JobCache, media_of
from gnomon_workers.process import limit_memory, raise_gc_threshold
from gnomon_workers.rate_limit.config import RATE_LIMITS_ENV as RATES
from gnomon_workers.rate_limit.config import parse_rates
from gnomon_workers.settings import read_cache_days, read_timing
from gnomon_workers.store.store import open_store


def load_for(spec: JobSpec) -> None:
    """Import what a worker does for a job, so that its workers can be forks that have it."""
    from gnomon_agents.models.catalog import preload
    from gnomon_workers.worker import import_for

    import_for(spec, preload)


@click.command(help=__doc__)
@click.option("--redis", "redis_url", required=True, envvar="GNOMON_REDIS_URL", help="URL of the queue.")
@click.option(
    "--database", "database_url", required=True, envvar="GNOMON_DATABASE_URL", help="URL of the store."
)
@click.option("--queues", default="default", show_default=True, help="Names, separated by commas.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=Path(".gnomon"),
    envvar="GNOMON_DATA_DIR",
    show_default=True,
    help="Where media are kept.",
)
def main(redis_url: str, database_url: str, queues: str, data_dir: Path) -> None:
    """Run a worker."""
    os.umask(0o077)  # what it writes is its owner's alone
    limit_memory()
    raise_gc_threshold()
    from gnomon_agents.models.catalog import open_model, preload
    from gnomon_workers.redis_url import redis_at
    from gnomon_workers.shard import WorkerContext
    from gnomon_workers.worker import ShardWorker

    try:
        set_up_logs(os.environ)
        timing = read_timing(os.environ)
        context = WorkerContext(
            name=f"{socket.gethostname()}-{os.getpid()}",
            store=open_store(database_url, patience_s=timing.start_s),
            opener=JobCache(media=media_of(data_dir)),
            open_model=open_model,
            timing=timing,
            allowed_bases=parse_allowed(os.environ.get(ALLOWED_API_BASES_ENV, "")),
            redis_url=redis_url,
            rates=parse_rates(os.environ.get(RATES, "")),
            is_caching=read_cache_days(os.environ) > 0,
        )
    except GnomonError as error:
        raise click.UsageError(str(error)) from None
    names = tuple(name.strip() for name in queues.split(",") if name.strip())
    worker = ShardWorker(names, redis=redis_at(redis_url), context=context, preload=preload)
    worker.work(logging_level="WARNING")


if __name__ == "__main__":
    main()
