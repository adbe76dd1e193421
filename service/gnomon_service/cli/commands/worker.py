"""Start one worker."""

import os
from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option, queues_of, queues_option


@click.command()
@queues_option
@data_dir_option
def worker(queues: str, data_dir: Path | None) -> None:
    """Run trials from GNOMON_REDIS_URL into GNOMON_DATABASE_URL until interrupted."""
    from gnomon_service.cli.common import need_redis, settings_of
    from gnomon_service.local_stack import open_redis, worker_env
    from gnomon_workers.process import module_command

    settings = settings_of(data_dir)
    url = need_redis(settings)
    open_redis(url).close()
    command = module_command("gnomon_workers", "--queues", ",".join(queues_of(queues)))
    environ = {**os.environ, **worker_env(settings, url)}
    # The worker loads agents, which this process may not: so this process becomes the worker.
    os.execve(command[0], command, environ)  # noqa: S606 (our own module, arguments as a list)
