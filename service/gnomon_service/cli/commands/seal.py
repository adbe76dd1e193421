"""Write the seal of a job: what was planned and what came of it, for anyone to check."""

from pathlib import Path

import click

from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.options import data_dir_option


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; else stdout.")
@data_dir_option
def seal(job: str, out: Path | None, data_dir: Path | None) -> None:
    """Write the seal of JOB, one JSON line each; `gnomon verify` and standard tools check it."""
    from gnomon.core.errors import NotFound
    from gnomon.whole_file import named_file
    from gnomon_service.cli.common import existing_store, say
    from gnomon_service.cli.ids import find_job

    with existing_store(data_dir) as store:
        if not store.seal(job):  # of a job that was deleted, it is all there is
            job = find_job(store, job)
        store.seal_results(job)
        lines = store.seal(job)
    if not lines:
        raise NotFound(f"job {job} has no seal: an older version of Gnomon made it", field="job")
    text = "".join(f"{line.text}\n" for line in lines)
    if out is None:
        click.echo(text, nl=False)
    else:
        with named_file(out) as file:
            file.write(text.encode())
        say(f"seal: {out}, plan {lines[0].sha256}")
