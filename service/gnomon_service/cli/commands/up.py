"""Start everything: API, queue, workers, sweeper."""

from pathlib import Path

import click

from gnomon_service.cli.options import (
    data_dir_option,
    host_option,
    port_option,
    queues_of,
    queues_option,
    workers_option,
)


@click.command()
@host_option
@port_option
@workers_option
@queues_option
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@data_dir_option
def up(host: str, port: int, workers: int | None, queues: str, opens: bool, data_dir: Path | None) -> None:
    """Serve the page and the API, with their own queue, sweeper and workers, until interrupted."""
    import os
    from contextlib import ExitStack

    from gnomon.report.text_formats import count
    from gnomon_service.cli.commands.open_ import open_browser
    from gnomon_service.cli.common import settings_of
    from gnomon_service.local_stack import default_workers, local_stack
    from gnomon_service.running_service import callable_url, remembered
    from gnomon_service.serving import listen, serve
    from gnomon_service.supervisor import sigterm_as_interrupt
    from gnomon_workers.logs import set_up_logs

    set_up_logs(os.environ, level="warning")
    settings = settings_of(data_dir)
    number = workers or default_workers()

    def ready(url: str) -> None:
        running.enter_context(remembered(settings.data_dir, url))
        click.echo(f"{url}  ({count(number, 'worker')}, data in {settings.data_dir}; Ctrl-C stops it)")
        if opens:
            open_browser(callable_url(url) + "/")

    with listen(host, port, has_keys=bool(settings.api_keys)) as listener:
        try:
            with sigterm_as_interrupt(), local_stack(settings) as here, ExitStack() as running:
                here.start_workers(number, queues_of(queues))
                serve(here, listener, ready=ready)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
