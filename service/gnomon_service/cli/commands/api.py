"""Start the API and the sweeper alone."""

from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option, host_option, port_option


@click.command()
@host_option
@port_option
@data_dir_option
def api(host: str, port: int, data_dir: Path | None) -> None:
    """Serve the API against GNOMON_REDIS_URL and GNOMON_DATABASE_URL until interrupted."""
    import os
    from contextlib import ExitStack

    from gnomon_service.cli.common import need_redis, settings_of
    from gnomon_service.local_stack import local_stack
    from gnomon_service.running_service import remembered
    from gnomon_service.serving import listen, serve
    from gnomon_service.supervisor import sigterm_as_interrupt
    from gnomon_workers.logs import set_up_logs

    set_up_logs(os.environ, level="warning")
    settings = settings_of(data_dir)
    need_redis(settings)

    def ready(url: str) -> None:
        running.enter_context(remembered(settings.data_dir, url))
        click.echo(url)

    with listen(host, port, has_keys=bool(settings.api_keys)) as listener:
        try:
            with sigterm_as_interrupt(), local_stack(settings) as here, ExitStack() as running:
                here.start_sweeper()
                serve(here, listener, ready=ready)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
