"""Print or write the report of a job, or its result rows."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import count
from gnomon.whole_file import PUBLIC, named_file, write_whole
from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option

if TYPE_CHECKING:
    from gnomon_workers.store.store import Store

FORMATS = ("json", "html", "md", "csv", "parquet", "tex")
OF_METHODS = ("json", "md", "csv", "tex")


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="Default: by the ending of --out, else json."
)
@click.option("--json", "kind", flag_value="json", help="The same as --format json.")
@click.option(
    "--methods",
    is_flag=True,
    help="Only the methods and the table for a paper, by default as md; tex is LaTeX.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; else stdout.")
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for each figure alone, as SVG, PDF and PNG, for a paper's column and for its page.",
)
@click.option(
    "--tables",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for each table as LaTeX, Markdown and CSV, with methods and citation.",
)
@data_dir_option
def report(
    job: str,
    kind: str | None,
    methods: bool,
    out: Path | None,
    figures: Path | None,
    tables: Path | None,
    data_dir: Path | None,
) -> None:
    """Print or write the report of JOB; csv and parquet hold its result rows, tex its methods for a paper."""
    from gnomon_service.cli.common import existing_store, settings_of

    asked = bool(kind or methods)
    kind = kind or ("md" if methods and out is None else _by_ending(out))
    if methods and kind not in OF_METHODS:
        raise SpecError(
            f"methods are not written as {kind}; allowed: {', '.join(OF_METHODS)}", field="--format"
        )
    if kind == "parquet" and out is None:
        raise SpecError("parquet is binary; name a file", field="--out")
    with existing_store(data_dir) as store:
        found = find_job(store, job)
        if figures or tables:
            _write_paper(store, found, figures, tables)
            if out is None and not asked:
                return
        if methods or kind == "tex":
            _put(_methods(store, found, kind), out)
        else:
            _write(store, found, kind, out, data_dir=settings_of(data_dir).data_dir)


def _by_ending(out: Path | None) -> str:
    if out is None:
        return "json"
    ending = out.suffix.removeprefix(".")
    if ending not in FORMATS:
        raise SpecError(f"{out.name!r} has no known ending; allowed: {', '.join(FORMATS)}", field="--format")
    return ending


def _write(store: "Store", job: str, kind: str, out: Path | None, *, data_dir: Path) -> None:
    from gnomon.report.row_formats import rows_csv, rows_parquet

    if kind in ("csv", "parquet"):
        store.job(job)
        rows = store.iter_rows(job)
        if out is None:
            rows_csv(rows, sys.stdout)
        elif kind == "parquet":
            with named_file(out) as file:
                rows_parquet(rows, file)
        else:
            with named_file(out, "w", encoding="utf-8", newline="") as file:
                rows_csv(rows, file)
        return
    _put(_text(store, job, kind, data_dir=data_dir), out)


def _put(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        with named_file(out) as file:
            file.write(text.encode())


def _write_paper(store: "Store", job: str, figures: Path | None, tables: Path | None) -> None:
    from gnomon_analyses.paper.paper_files import figure_files, table_files
    from gnomon_service.reports import report_of

    made = report_of(store, job)
    for folder, files, noun in ((figures, figure_files, "figures"), (tables, table_files, "tables")):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            content = dict(files(made))
            for name, data in content.items():
                write_whole(folder / name, data, rights=PUBLIC)
            click.echo(f"{noun}: {count(len(content), 'file')} in {folder}", err=True)


def _methods(store: "Store", job: str, kind: str) -> str:
    from gnomon_analyses.sections.methods import methods_text
    from gnomon_service.reports import report_of

    return methods_text(report_of(store, job), kind)


def _text(store: "Store", job: str, kind: str, *, data_dir: Path) -> str:
    from gnomon.report.markdown import render_markdown
    from gnomon_service.reports import as_json, page_of, report_of

    report = report_of(store, job)
    if kind == "html":
        return page_of(store, job, report, data_dir=data_dir)
    return as_json(report) if kind == "json" else render_markdown(report)
