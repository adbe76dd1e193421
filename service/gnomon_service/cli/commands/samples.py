"""List the samples of a job with each arm's score, or those that a spec selects."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gnomon.core.errors import SpecError
from gnomon.core.score import Outcome
from gnomon_service.cli.completions import complete_arm, complete_job
from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon.core.row import Row
    from gnomon.core.sample import SampleRef
    from gnomon.spec.job_spec import JobSpec
    from gnomon_service.cli.tables import Cell

CHANGES = ("any", "fixed", "regressed")
STYLES = {"fixed": "green", "regressed": "red"}


@dataclass(slots=True, kw_only=True)
class SampleResult:
    """Each arm's score of one sample with one model: the mean of the repeats that have a score."""

    sample_id: str
    task: str
    cell: str
    model: str
    scores: dict[str, list[float]] = field(default_factory=dict)
    answers: dict[str, str | None] = field(default_factory=dict)
    outcomes: dict[str, set[str]] = field(default_factory=dict)

    def add(self, row: "Row") -> None:
        if row.score is not None:
            self.scores.setdefault(row.arm, []).append(row.score)
        self.answers.setdefault(row.arm, row.answer)
        self.outcomes.setdefault(row.arm, set()).add(row.outcome.value)

    def score(self, arm: str) -> float | None:
        scores = self.scores.get(arm)
        return sum(scores) / len(scores) if scores else None

    def change(self, pair: tuple[str, str] | None) -> str:
        """`fixed` where the variant alone is right, `regressed` where the baseline alone is, else empty."""
        from gnomon.report.score_matrix import RIGHT

        before, after = (self.score(arm) for arm in pair) if pair else (None, None)
        if before is None or after is None or (before >= RIGHT) == (after >= RIGHT):
            return ""
        return "fixed" if after >= RIGHT else "regressed"

    def to_json(self, arms: Sequence[str], pair: tuple[str, str] | None) -> dict[str, Any]:
        results = {
            arm: {
                "score": self.score(arm),
                "answer": self.answers.get(arm),
                "outcomes": sorted(self.outcomes.get(arm, ())),
            }
            for arm in arms
        }
        head = {"sample_id": self.sample_id, "task": self.task, "cell": self.cell, "model": self.model}
        return {**head, "arms": results, "change": self.change(pair)}


class Listing(NamedTuple):
    """Samples, the arms that are shown, and the contrast that a change is of."""

    samples: list[SampleResult]
    arms: tuple[str, ...]
    pair: tuple[str, str] | None


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
    from gnomon.report.text_formats import count
    from gnomon_service.cli.common import say

    if Path(job).suffix in (".yaml", ".yml", ".json"):
        if arms or outcome or changed:
            raise SpecError("a spec has no results; allowed: --cell, --limit", field="JOB")
        listing = Listing(_of_spec(Path(job), data_dir), (), None)
    else:
        listing = _of_job(job, arms, data_dir)
    listed, labels, pair = listing
    chosen = [
        result
        for result in listed
        if (cell is None or result.cell == cell)
        and (outcome is None or any(outcome in result.outcomes.get(arm, ()) for arm in labels))
        and (changed is None or result.change(pair) in (CHANGES[1:] if changed == "any" else (changed,)))
    ]
    if as_json:
        click.echo(json.dumps([result.to_json(labels, pair) for result in chosen[:limit]], indent=2))
        return
    _print(chosen[:limit], labels, pair)
    say(f"{count(len(chosen), 'sample')}{_rest(len(chosen), limit)}")


def _rest(total: int, limit: int) -> str:
    return f", of which {limit:,} are listed; --limit lists more" if total > limit else ""


def _of_spec(path: Path, data_dir: Path | None) -> list[SampleResult]:
    from gnomon_service.cli.common import draft_of, settings_of

    return [_empty(ref, model="") for ref in draft_of(path, settings_of(data_dir)).refs]


def _empty(ref: "SampleRef", *, model: str) -> SampleResult:
    return SampleResult(sample_id=ref.sample_id, task=ref.task, cell=ref.cell, model=model)


def _of_job(job: str, arms: tuple[str, ...], data_dir: Path | None) -> Listing:
    from gnomon_service.cli.common import existing_store
    from gnomon_service.cli.ids import find_job

    with existing_store(data_dir) as store:
        job_id = find_job(store, job)
        spec = store.job(job_id).spec
        labels = tuple(spec.arm(name).name for name in arms) or tuple(arm.name for arm in spec.arms)
        results = _joined(spec, store.refs(job_id), store.iter_rows(job_id))
    contrast = next(iter(spec.contrasts()), None)
    return Listing(results, labels, (contrast.baseline, contrast.variant) if contrast else None)


def _joined(spec: "JobSpec", refs: Sequence["SampleRef"], rows: Iterable["Row"]) -> list[SampleResult]:
    results = {
        (ref.sample_id, model.label): _empty(ref, model=model.label) for ref in refs for model in spec.models
    }
    for row in rows:
        result = results.get((row.sample_id, row.model))
        if result is not None:
            result.add(row)
    return list(results.values())


def _print(results: Sequence[SampleResult], arms: Sequence[str], pair: tuple[str, str] | None) -> None:
    from gnomon_service.cli.tables import print_table

    has_models = len({result.model for result in results}) > 1
    head = ["sample", "cell", *(["model"] if has_models else []), *arms, *(["change"] if arms else [])]
    rows: list[list[Cell]] = []
    for result in results:
        change = result.change(pair)
        scores = [_score(result, arm) for arm in arms]
        model = [result.model] if has_models else []
        mark: list[Cell] = [(change, STYLES.get(change, ""))] if arms else []
        rows.append([result.sample_id, result.cell, *model, *scores, *mark])
    print_table(head, rows, right=arms)


def _score(result: SampleResult, arm: str) -> str:
    score = result.score(arm)
    if score is not None:
        return f"{score:.3f}"
    return "missing" if result.outcomes.get(arm) else "–"
