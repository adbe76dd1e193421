"""Check published answers by the agreement of several models."""

import json
from dataclasses import asdict
from pathlib import Path

import click

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("rows", nargs=-1, required=True, type=_FILE)
@click.option(
    "--data",
    type=_FOLDER,
    help="EscherVerse's folder, as in the job: adds the questions' text to the review queue.",
)
@click.option("--arm", default="consensus", show_default=True, help="The arm whose rows count.")
@click.option(
    "--decisions", type=_FILE, help="The queue with a person's decisions: writes the reviewed questions."
)
@click.option("--out", required=True, type=_FOLDER, help="A new or empty folder.")
def consensus(rows: tuple[Path, ...], data: Path | None, arm: str, decisions: Path | None, out: Path) -> None:
    """Sort the questions of a consensus job (its rows.ndjson) into confirmed ones and a queue for review.

    Writes consensus.ndjson and review.ndjson; a person sets `decision` in review.ndjson to keep, fix (with
    `answer`) or drop. With --decisions: writes the published file without questions dropped or undecided.
    """
    from gnomon.core.errors import SpecError
    from gnomon.whole_file import require_new_folder
    from gnomon_analyses.reviews.consensus import consensus_of
    from gnomon_analyses.reviews.decisions import queue_lines, read_decisions
    from gnomon_analyses.reviews.rows import read_result_rows
    from gnomon_published.benchmarks.escherverse.reviewed import by_index, read_questions, write_reviewed

    results = consensus_of(read_result_rows(rows, benchmark="escherverse" if data else None, arm=arm))
    if decisions is not None:
        if data is None:
            raise SpecError("needed to write the reviewed questions", field="--data")
        counts = write_reviewed(results, read_decisions(decisions), data=data, out=out)
        click.echo(", ".join(f"{name} {count}" for name, count in counts.items()) + f": {out}")
        return
    require_new_folder(out)
    queue = queue_lines(results, by_index(read_questions(data)) if data else {})
    out.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(result), ensure_ascii=False) for result in results]
    (out / "consensus.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "review.ndjson").write_text("".join(f"{line}\n" for line in queue), encoding="utf-8")
    agreed = len(results) - len(queue)
    click.echo(f"{agreed} of {len(results)} agreed, {len(queue)} for a person to decide: {out}")
