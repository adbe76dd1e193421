"""Scores the reference model on GTR-Bench; prints the table of docs/reference-model.md.

    python bench/gtr_reference.py DATA [--protocol guarded] [--scoring strict] [--groups] [--json]

`DATA` is the published folder, or `worlds` for generated questions (then nothing is fitted). Each question
runs as a trial of a job would. Constants that are fitted to answers are fitted anew for each fold, on the
other folds only; questions that share a target, or are joined by others that do, are one component and lie in
one fold. Only this script knows which target is which. `--groups` also leaves out one group of tools each.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from folds import Values, fit, folds_of, mean_of_cells
from reference_runs import Runs, open_samples, scores_of, start
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from agents.models.reference.constants import SHIPPED, Constants, fitted
from gnomon.core.row import Row
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import design, strata_of
from gnomon.statistics.mean import MeanScore, mean_score
from tools.core.toolbox import TOOLS

GROUPS: Mapping[str, tuple[str, ...]] = {
    "tracks": ("project_track", "estimate_track"),
    "topology": ("distance", "neighbours", "travel_time", "order_cost"),
    "between": ("interpolate",),
    "speed and dwell": ("speed", "dwell"),
    "forecast": ("forecast_arrival", "meeting_candidates"),
    "motion": ("compare_motion",),
}
CAVEAT = (
    "The reference reads homographies that the official prompt withholds and sees no video; "
    "published models saw the pictures."
)
PROCESSES = 2
FOLDS = 5
OFF = 1.25  # a constant that is not fitted is tried a quarter larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """An arm's rows, one a question."""

    name: str
    rows: Sequence[Row]

    def mean(self, cells: str = "") -> MeanScore:
        """Over the cells whose names begin so, with a 95 % interval by component of targets."""
        rows = [row for row in self.rows if row.cell.startswith(cells)]
        strata = np.unique([row.cell for row in rows], return_inverse=True)[1]
        clusters = np.unique([row.cluster for row in rows], return_inverse=True)[1]
        return mean_score(scores_of(rows), design(strata_of(strata, "mean_of_cells"), clusters))


def main() -> None:
    """Run, and print the table or one JSON document."""
    given = _arguments()
    spec, started = _spec(given), time.perf_counter()
    refs = open_samples(spec, given.media).refs
    with _progress() as progress, ProcessPoolExecutor(PROCESSES, None, start, (spec, given.media)) as pool:
        runs = Runs(spec=spec, refs=refs, pool=pool, progress=progress)
        tried = {} if given.data == "worlds" or given.shipped else fitted()
        fold = folds_of([ref.cluster for ref in refs], FOLDS)
        by_fold = [_fit(runs, fold != number) for number in range(FOLDS)] if tried else []
        everywhere = _fit(runs, fold >= 0) if tried else {}
        own = [by_fold[number] if tried else {} for number in fold]
        columns = [Column(name=arm.name, rows=runs.rows(arm.name, own)) for arm in spec.arms]
        shipped = Column(name="shipped", rows=runs.rows("tools", [{}] * len(refs)))
        effects = _effects(runs) if given.effects else {}
    seconds = time.perf_counter() - started
    report = _report(spec, columns, shipped, {"tried": tried, "by_fold": by_fold, "on_all": everywhere})
    report |= {"effects": effects, "trials": runs.trials, "seconds": round(seconds, 1), "caveat": CAVEAT}
    print(json.dumps(report, indent=1) if given.json else _as_text(report))
    if given.rows:
        rows = [json.dumps(asdict(row)) for column in columns for row in column.rows]
        given.rows.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="folder of the published files; `worlds` generates questions instead")
    parser.add_argument("--protocol", default="guarded", choices=("guarded", "official"))
    parser.add_argument("--scoring", default="strict", choices=("strict", "official"))
    parser.add_argument("--limit", type=int, help="so many questions only")
    parser.add_argument("--groups", action="store_true", help="leave out each group of tools as well")
    parser.add_argument(
        "--shipped", action="store_true", help="fit nothing: the shipped constants everywhere"
    )
    parser.add_argument(
        "--effects", action="store_true", help="what another value of each constant does to the shipped mean"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--rows", type=Path, help="write the rows here, one JSON object a line")
    parser.add_argument(
        "--media", type=Path, default=Path(".gnomon/media"), help="where pictures and map readings are kept"
    )
    return parser.parse_args()


def _spec(given: argparse.Namespace) -> JobSpec:
    left_out = {f"− {name}": set(tools) for name, tools in GROUPS.items()} if given.groups else {}
    arms: list[dict[str, object]] = [{"name": "raw", "agent": "direct"}]
    arms += [{"name": "tools", "agent": "react", "tools": "all"}]
    arms += [
        {"name": name, "agent": "react", "tools": [tool for tool in TOOLS.names() if tool not in tools]}
        for name, tools in left_out.items()
    ]
    worlds = given.data == "worlds"
    return JobSpec.model_validate(
        {
            "benchmark": "worlds" if worlds else "gtr-bench",
            "data": None if worlds else given.data,
            "select": {"limit": given.limit or (980 if worlds else None), "seed": 1 if worlds else 0},
            "protocol": given.protocol,
            "scoring": given.scoring,
            "models": [{"id": "reference"}],
            "arms": arms,
        }
    )


def _fit(runs: Runs, train: np.ndarray[Any, np.dtype[np.bool_]]) -> Values:
    """The constants that do best on the questions of a mask, by the mean of its cells."""
    cells = [ref.cell for ref, chosen in zip(runs.refs, train, strict=True) if chosen]
    return fit(fitted(), lambda values: mean_of_cells(runs.scores("tools", values)[train], cells))


def _effects(runs: Runs) -> dict[str, Any]:
    """For each constant other values, and how much the mean of cells rises with each; all else as shipped."""
    cells = [ref.cell for ref in runs.refs]
    before = mean_of_cells(runs.scores("tools", {}), cells)
    found: dict[str, Any] = {}
    for name in (each.name for each in fields(Constants)):
        value = getattr(SHIPPED, name)
        others = [one for one in fitted().get(name, ()) if one != value] or [value * OFF]
        for other in others:
            after = mean_of_cells(runs.scores("tools", {name: other}), cells)
            found[f"{name} {value:g} -> {other:g}"] = after - before
    return found


def _report(
    spec: JobSpec, columns: Sequence[Column], shipped: Column, constants: Mapping[str, Any]
) -> dict[str, Any]:
    cells = sorted({row.cell for row in shipped.rows})
    scenes = sorted({cell.partition(".")[0] + "." for cell in cells})
    return {
        "protocol": spec.protocol,
        "scoring": spec.scoring,
        "constants": {**constants, "shipped": {name: getattr(SHIPPED, name) for name in constants["tried"]}},
        "arms": {
            column.name: {cell: _told(column.mean(cell)) for cell in (*cells, *scenes, "")}
            for column in (*columns, shipped)
        },
        "missing": {column.name: sum(row.score is None for row in column.rows) for column in columns},
        "most_tool_calls": max(row.tool_calls for row in shipped.rows),
        "published": [asdict(line) for line in spec.plugin().published()],
    }


def _told(found: MeanScore) -> dict[str, Any]:
    return {"n": found.n, "clusters": found.clusters, "mean": found.mean, "ci95": found.ci95}


def _as_text(report: Mapping[str, Any]) -> str:
    """A Markdown table in per cent, and what has to stand beside it."""
    arms = report["arms"]
    names = [name for name in arms if name != "shipped"]
    head = ["cell", "n", *names[:2], "95 %", *names[2:], "best published", "best of each", "people"]
    lines = [_line(head), "|" + "---|" * len(head)]
    for cell in arms["tools"]:
        means = [f"{100 * arms[name][cell]['mean']:.1f}" for name in names]
        interval = _interval(arms["tools"][cell]["ci95"])
        title = {"": "**mean**", "indoor.": "*indoor*", "outdoor.": "*outdoor*"}.get(cell, cell)
        row = [title, str(arms["tools"][cell]["n"]), means[0], f"**{means[1]}**", interval, *means[2:]]
        lines.append(_line(row + _published(report["published"], cell, arms["tools"])))
    lines.append("")
    for name, by_cell in arms.items():
        missing = report["missing"].get(name, 0)
        note = f", {missing} missing counted as 0" if missing else ""
        clusters = f"{by_cell['']['clusters']} components of targets"
        lines.append(f"{name}: {_mean(by_cell[''])}, {clusters}{note}")
    for number, values in enumerate(report["constants"]["by_fold"]):
        lines.append(f"fold {number}: {values}")
    lines += [f"on all: {report['constants']['on_all']}", f"shipped: {report['constants']['shipped']}"]
    lines += [f"{change}: {100 * gain:+.1f}" for change, gain in report["effects"].items()]
    lines.append(f"most tool calls: {report['most_tool_calls']} a question")
    return "\n".join((*lines, f"{report['trials']} trials in {report['seconds']:.0f} s. {report['caveat']}"))


def _published(lines: Sequence[Mapping[str, Any]], prefix: str, cells: Mapping[str, Any]) -> list[str]:
    """Over the cells that begin so: the best model's mean, the mean of each cell's best, people's mean."""
    wanted = [cell for cell in cells if cell.startswith(prefix) and not cell.endswith(".") and cell]
    models = [line for line in lines if line["group"] != "human"]
    people = [line for line in lines if line["group"] == "human"]
    if not models or not people:
        return ["–", "–", "–"]
    best = max(_over(line, wanted) for line in models)
    each = sum(max(_over(line, [cell]) for line in models) for cell in wanted) / len(wanted)
    return [f"{100 * value:.1f}" for value in (best, each, _over(people[0], wanted))]


def _over(line: Mapping[str, Any], cells: Sequence[str]) -> float:
    return sum(line["by_task"].get(cell) or 0.0 for cell in cells) / len(cells)


def _mean(found: Mapping[str, Any]) -> str:
    return f"mean of cells {100 * found['mean']:.1f} ({_interval(found['ci95'])}), n {found['n']}"


def _interval(ci95: Sequence[float] | None) -> str:
    return "–" if ci95 is None else f"{100 * ci95[0]:.0f}–{100 * ci95[1]:.0f}"


def _line(parts: Sequence[str]) -> str:
    return "| " + " | ".join(parts) + " |"


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


if __name__ == "__main__":
    main()
