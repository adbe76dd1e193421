"""Pass or fail a build: a new job must not be worse than an earlier one."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import NotFound, SpecError
from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon.spec.job_spec import JobSpec
    from gnomon_analyses.gate.gate import GateSide

PASSED, FAILED = 0, 1
ROWS = "rows.ndjson"


@click.command()
@click.argument("base", shell_complete=complete_job)
@click.argument("new", shell_complete=complete_job)
@click.option(
    "--margin",
    type=float,
    help="How far NEW may fall, as a fraction of the score's scale: 0.03 is 3 points.  "
    "[default: the margin of BASE's spec, else 0.05]",
)
@click.option(
    "--summary",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to which the result is added as Markdown, such as $GITHUB_STEP_SUMMARY.",
)
@data_dir_option
@json_option
def gate(
    base: str, new: str, margin: float | None, summary: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Judge whether NEW is not worse than BASE, paired over their common samples.

    BASE and NEW are jobs, folders of `gnomon run --out`, their report.json, or files of rows (.ndjson, .jsonl
    or .csv); with `:ARM` behind it, only that arm counts. The exit code is 0 where NEW is shown to be not
    worse by more than the margin, 1 where it is worse or that is not shown, 2 where they cannot be compared.
    """
    from gnomon.exchange.foreign import benchmark_called
    from gnomon.spec.margin_spec import margin_of
    from gnomon.statistics.equivalence import Margin
    from gnomon_analyses.gate.gate import gate as judge
    from gnomon_analyses.gate.gate_text import gate_markdown, gate_text

    if margin is not None and not (math.isfinite(margin) and 0 < margin < 1):
        raise SpecError(
            f"{margin} is no margin; allowed: more than 0 and less than 1 (0.03 is 3 points)",
            field="--margin",
        )
    first, spec = _side(base, data_dir, "BASE")
    second, _ = _side(new, data_dir, "NEW")
    size = Margin(kind="absolute", size=margin) if margin is not None else None
    of_spec = margin_of(spec.analysis.margin if spec else 0.05, "all")
    benchmark = first.rows[0].benchmark if first.rows else ""
    report = judge(
        first,
        second,
        margin=size or of_spec,
        headline=benchmark_called(benchmark).headline,
        clustered=spec is None or spec.analysis.cluster == "auto",
    )
    if summary is not None:
        try:
            with summary.open("a", encoding="utf-8") as file:
                file.write(gate_markdown(report))
        except OSError as error:
            raise SpecError(f"{summary} cannot be written: {error.strerror}", field="--summary") from None
    click.echo(json.dumps(report, indent=2, allow_nan=False) if as_json else gate_text(report))
    click.get_current_context().exit(PASSED if report["passed"] else FAILED)


def _side(text: str, data_dir: Path | None, field: str) -> "tuple[GateSide, JobSpec | None]":
    """The results that an argument names: a path, or a job; behind a colon, one of its arms."""
    name, _, arm = text.rpartition(":")
    if Path(text).exists() or not name:
        return _results(text, None, data_dir, field)
    return _results(name, arm, data_dir, field)


def _results(
    name: str, arm: str | None, data_dir: Path | None, field: str
) -> "tuple[GateSide, JobSpec | None]":
    from gnomon.exchange.imported_job import asked_and_scored
    from gnomon_analyses.gate.gate import GateSide
    from gnomon_service.cli.common import existing_store

    path = Path(name)
    if path.exists():
        return _of_files(path, arm, field), None
    if path.suffix in (".json", ".ndjson", ".jsonl", ".csv") or "/" in name:
        raise NotFound(f"there is no {name}", field=field)
    try:
        store = existing_store(data_dir)
    except NotFound as error:
        raise NotFound(f"there is no file {name}, and {error.message}", field=field) from None
    try:
        job = store.job(find_job(store, name))
        rows = list(store.iter_rows(job.id))
    except (NotFound, SpecError) as error:
        raise type(error)(error.message, field=field) from None
    finally:
        store.close()
    protocol, scoring = asked_and_scored(job.spec)
    side = GateSide(name=job.id, rows=rows, arm=arm, status=job.status, **_told(protocol, scoring))
    return side, job.spec


def _of_files(path: Path, arm: str | None, field: str) -> "GateSide":
    """Rows in a file, or in the folder of a run; a report.json beside them says how they were scored."""
    from gnomon.exchange.row_file import read_rows
    from gnomon_analyses.gate.gate import GateSide

    report_path = path / "report.json" if path.is_dir() else path.with_name("report.json")
    rows_path = path / ROWS if path.is_dir() else path.with_name(ROWS) if path.suffix == ".json" else path
    if not rows_path.is_file():
        raise SpecError(
            f"{path} has no {ROWS} beside it, and a report alone holds no scores by sample", field=field
        )
    known: dict[str, str] = {}
    if report_path.is_file() and (path.is_dir() or path == report_path):
        try:
            report = json.loads(report_path.read_text(encoding="utf-8"))
            known = {
                "status": str(report["job"]["status"]),
                **_told(str(report["protocol"]), str(report["scoring"])),
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SpecError(f"{report_path} is no report of Gnomon: {error!r}", field=field) from None
    return GateSide(name=str(path), rows=read_rows(rows_path), arm=arm, **known)


def _told(protocol: str, scoring: str) -> dict[str, str]:
    """What is known of a side's prompt and scoring."""
    from gnomon.exchange.imported_job import UNKNOWN

    both = {"protocol": protocol, "scoring": scoring}
    return {name: value for name, value in both.items() if value != UNKNOWN}
