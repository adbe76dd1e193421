"""List the samples of a job with each arm's score, or those that a spec selects."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import SpecError
from gnomon.core.score import Outcome
from gnomon.report.text_formats import count
from gnomon_service.cli.completions import complete_arm, complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon_service.cli.tables import Cell
    from gnomon_workers.store.store import Store

CHANGES = {"any": ("fixed", "regressed"), "fixed": ("fixed",), "regressed": ("regressed",)}
STYLES = {"fixed": "green", "regressed": "red"}
Record = dict[str, Any]


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--arm", "arms", multiple=True, help="Show this arm only. Repeatable.", shell_complete=complete_arm
)
@click.option("--cell", help="Only samples of this cell.")
@click.option(
    "--outcome",
    type=click.Choice([outcome.value for outcome in Outcome]),
    help="Only samples that end so under a shown arm.",
)
@click.option(
    "--changed",
    type=click.Choice(CHANGES),
    is_flag=False,
    flag_value="any",
    help="Only samples that one arm of the first contrast gets right and the other wrong.",
)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1_000_000))
@data_dir_option
@json_option
def samples(
    job: str,
    arms: tuple[str, ...],
    cell: str | None,
    outcome: str | None,
    changed: str | None,
    limit: int,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """List the samples of JOB (an id, or a spec file) with each arm's score.

    A sample is `fixed` where the variant of the job's first contrast is right and the baseline is not, and
    `regressed` the other way round. `gnomon trace JOB SAMPLE --arm ARM` shows a trial.
    """
    from gnomon_service.cli.common import draft_of, existing_store, say, settings_of

    if Path(job).suffix in (".yaml", ".yml", ".json"):
        if arms or outcome or changed:
            raise SpecError("a spec has no results; allowed: --cell, --limit", field="JOB")
        refs = [ref for ref in draft_of(Path(job), settings_of(data_dir)).refs if cell in (None, ref.cell)]
        total, listed = len(refs), [_record(ref.sample_id, ref.task, ref.cell) for ref in refs[:limit]]
    else:
        with existing_store(data_dir) as store:
            total, listed = _of_job(store, job, arms, cell, outcome, CHANGES.get(changed or "", ()), limit)
    if as_json:
        click.echo(json.dumps(listed, indent=2))
        return
    _print(listed)
    rest = f", of which {limit:,} are listed; --limit lists more" if total > limit else ""
    say(f"{count(total, 'sample')}{rest}")


def _record(
    sample_id: str,
    task: str,
    cell: str,
    model: str = "",
    arms: Mapping[str, Record] | None = None,
    change: str = "",
) -> Record:
    place = {"sample_id": sample_id, "task": task, "cell": cell, "model": model}
    return {**place, "arms": arms or {}, "change": change}


def _of_job(
    store: "Store",
    job: str,
    arms: Sequence[str],
    cell: str | None,
    outcome: str | None,
    changes: tuple[str, ...],
    limit: int,
) -> tuple[int, list[Record]]:
    """How many samples match, by model, and the first of them."""
    from gnomon.report.trial_index.filters import CHANGES as NAMES
    from gnomon.report.trial_index.filters import TrialFilter
    from gnomon_service.derived_kinds import indexes_of

    job_id = find_job(store, job)
    spec = store.job(job_id).spec
    shown = tuple(spec.arm(name).name for name in arms) or tuple(arm.name for arm in spec.arms)
    contrast = next(iter(spec.contrasts()), None)
    pair = (contrast.baseline, contrast.variant) if contrast else ("", "")
    asked = TrialFilter(
        cell=(cell,) if cell else (),
        arm=shown if outcome else (),
        outcome=(outcome,) if outcome else (),
        changed=changes,
        baseline=pair[0],
        variant=pair[1],
    )
    index = indexes_of(store).get(job_id).value
    grid = index.grid(asked, limit=limit)
    kinds = index.kinds(*index.arms_of(asked)) if contrast else None
    firsts = [result.trials[0].trial_id for row in grid.items for result in row.results if result.trials]
    rows, listed = store.rows_by_trial(firsts), list[Record]()
    for row in grid.items:
        results = {
            result.arm: {
                "score": result.score,
                "answer": rows[result.trials[0].trial_id].answer if result.trials else None,
                "outcomes": sorted({trial.outcome for trial in result.trials}),
            }
            for result in row.results
        }
        place = index.models.index(row.model), index.place_of[row.sample_id]
        kind = "" if kinds is None else NAMES[kinds[place]]
        change = kind if kind in STYLES else ""
        listed.append(
            _record(
                row.sample_id, row.task, row.cell, row.model, {arm: results[arm] for arm in shown}, change
            )
        )
    return grid.total, listed


def _print(listed: Sequence[Record]) -> None:
    from gnomon_service.cli.tables import print_table

    has_models = len({record["model"] for record in listed}) > 1
    arms = list(listed[0]["arms"]) if listed else []
    head = ["sample", "cell", *(["model"] if has_models else []), *arms, *(["change"] if arms else [])]
    rows: list[list[Cell]] = []
    for record in listed:
        scores = [_score(result) for result in record["arms"].values()]
        model = [record["model"]] if has_models else []
        change = record["change"]
        mark: list[Cell] = [(change, STYLES.get(change, ""))] if arms else []
        rows.append([record["sample_id"], record["cell"], *model, *scores, *mark])
    print_table(head, rows, right=arms)


def _score(result: Record) -> str:
    if result["score"] is not None:
        return f"{result['score']:.3f}"
    return "missing" if result["outcomes"] else "–"
