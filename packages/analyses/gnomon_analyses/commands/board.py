"""Rank the models of a benchmark's jobs, as a static site."""

from pathlib import Path

import click

from gnomon.core.errors import NotFound
from gnomon.whole_file import PUBLIC, write_whole
from gnomon_service.cli.options import data_dir_option


@click.command()
@click.option("--benchmark", required=True, help="Whose jobs are ranked.")
@click.option("--key", default="", help="Which board, where there are several; default: that of most jobs.")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write."
)
@data_dir_option
def board(benchmark: str, key: str, out: Path, data_dir: Path | None) -> None:
    """Write the board of a benchmark: index.html, and of each job its page, spec and report.

    Jobs are on one board if they ask the same samples with the same protocol and scoring.
    """
    from gnomon_analyses.board.record import board_answer, board_record, boards_of, site_files
    from gnomon_analyses.comparing.compared_jobs import IndexedJob
    from gnomon_service.cli.common import existing_store
    from gnomon_service.derived_kinds import indexes_of, reports_of

    with existing_store(data_dir) as store:
        boards = boards_of(store, benchmark)
        key = key or next(iter(boards), "")
        if key not in boards:
            there = f"boards: {', '.join(boards)}" if boards else "no job of it has ended"
            raise NotFound(f"no board {key!r} of {benchmark!r}; {there}", field="--benchmark")
        jobs, indexes, reports = boards[key], indexes_of(store), reports_of(store)
        indexed = [IndexedJob(job_id=job.id, spec=job.spec, index=indexes.get(job.id).value) for job in jobs]
        record = board_record(key, jobs, indexed)
        files = site_files(benchmark, record, jobs, lambda job_id: reports.get(job_id).value)
    out.mkdir(parents=True, exist_ok=True)
    for name, body in files.items():
        write_whole(out / name, body, rights=PUBLIC)
    click.echo(f"{board_answer(benchmark, record)}\nboard: {out / 'index.html'}")
