"""Open the page of the running service, of a job or of a trial, or a report file, in the browser."""

from pathlib import Path

import click

from gnomon.core.errors import NotFound
from gnomon_service.cli.completions import complete_job_or_trial
from gnomon_service.cli.options import data_dir_option

REPORT_ENDINGS = (".html", ".htm")


@click.command("open")
@click.argument("target", required=False, shell_complete=complete_job_or_trial)
@click.option("--print", "only_print", is_flag=True, help="Print the address and open no browser.")
@data_dir_option
def open_(target: str | None, only_print: bool, data_dir: Path | None) -> None:
    """Open the page of `gnomon up`, or of TARGET: a job, a trial or a report file (.html).

    The address is printed too. Where no browser can be opened, that is all that happens.
    """
    address = _address(target, data_dir)
    click.echo(address)
    if not only_print:
        open_browser(address)


def open_browser(address: str) -> bool:
    """Open an address in the browser; whether that worked, which is no error where it did not."""
    import webbrowser

    from gnomon_service.cli.common import say

    try:
        worked = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        worked = False
    if not worked:
        say("no browser could be opened")
    return worked


def _address(target: str | None, data_dir: Path | None) -> str:
    from gnomon_service.cli.common import existing_store, settings_of
    from gnomon_service.cli.ids import find_job, find_trial
    from gnomon_service.running_service import running_url

    if target is not None and Path(target).suffix.lower() in REPORT_ENDINGS:
        if not Path(target).is_file():
            raise NotFound(f"{target} is not a file", field="TARGET")
        return Path(target).resolve().as_uri()
    settings = settings_of(data_dir)
    path = "/"
    if target is not None:
        with existing_store(data_dir) as store:
            is_trial = target.startswith("t_")
            path = (
                f"/ui/trials/{find_trial(store, target)}"
                if is_trial
                else f"/ui/jobs/{find_job(store, target)}"
            )
    url = running_url(settings.data_dir)
    if url is None:
        how = "`gnomon up` starts one, `gnomon report JOB --out report.html` writes a page without one"
        raise NotFound(f"no service runs over {settings.data_dir}; {how}", field="--data-dir")
    return url + path
