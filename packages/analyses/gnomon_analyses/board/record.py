"""The boards of a benchmark as plain data, and as the files of a static site."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gnomon.exchange.foreign import benchmark_called
from gnomon.report.html import render_html
from gnomon.report.report import Report
from gnomon.report.text_formats import FILTERS, percent
from gnomon_analyses.board.ranks import FROZEN, MOST_PAIRED, Entry, board_key, ranked
from gnomon_analyses.comparing.compared_jobs import IndexedJob, names_apart
from gnomon_workers.store.records import OPEN, JobRecord
from gnomon_workers.store.store import Store

LOOKED_THROUGH = 500  # jobs, the newest first
MOST_ENTRIES = 60
TEMPLATES = Path(__file__).parents[1] / "pages" / "templates"


def boards_of(store: Store, benchmark: str) -> dict[str, list[JobRecord]]:
    """The benchmark's ended jobs by the board they are on, that with the most jobs first."""
    boards: dict[str, list[JobRecord]] = {}
    for job in store.jobs(limit=LOOKED_THROUGH).items:
        if job.spec.benchmark == benchmark and job.status not in OPEN and job.counts.scored:
            boards.setdefault(board_key(job.spec), []).append(job)
    return dict(sorted(boards.items(), key=lambda item: -len(item[1])))


def board_record(key: str, jobs: Sequence[JobRecord], indexed: Sequence[IndexedJob]) -> dict[str, Any]:
    """One board: its frozen part, its entries by rank, and what was published."""
    entries = ranked(indexed)[:MOST_ENTRIES]
    names = names_apart(jobs)
    spec = jobs[0].spec.model_dump(mode="json", include=set(FROZEN))
    how = (
        "paired differences on the samples that both have, p below 0.05 after Holm"
        if len(entries) <= MOST_PAIRED
        else "95 % intervals of the means that do not meet"
    )
    return {
        "key": key,
        "frozen": [{"field": name, "value": _in_words(value)} for name, value in spec.items()],
        "arms": list(dict.fromkeys(arm for entry in entries for arm in entry.means)),
        "entries": [_entry_record(entry, names) for entry in entries],
        "ranks": f"Ranks are ranges: entries are told apart by {how}.",
        "published": [
            {"model": row.model, "kind": row.group, "mean": row.aggregate}
            for row in benchmark_called(jobs[0].spec.benchmark).published()
        ],
    }


def board_answer(benchmark: str, board: Mapping[str, Any]) -> str:
    """Who leads, in one sentence."""
    entries = board["entries"]
    first = [entry["model"] for entry in entries if entry["first_rank"] == 1]
    best = entries[0]
    size = f"{percent(best['mean'])} % with {best['best_arm']}"
    if len(entries) == 1:
        return f"{best['model']} is alone on this board of {benchmark}: {size}."
    if len(first) == 1:
        return f"{best['model']} leads {benchmark}, {size}, of {len(entries)} ranked."
    return f"{len(first)} of {len(entries)} entries may lead {benchmark}; the highest mean is {size}."


def _in_words(value: object) -> str:
    if isinstance(value, dict):
        parts = (
            f"{name}: {_in_words(item)}" for name, item in value.items() if item not in (None, [], False)
        )
        return ", ".join(parts) or "–"
    return "–" if value in (None, [], ()) else str(value)


def _entry_record(entry: Entry, names: Mapping[str, str]) -> dict[str, Any]:
    first, last = entry.rank
    return {
        "rank": str(first) if first == last else f"{first}–{last}",
        "first_rank": first,
        "model": entry.model,
        "job": entry.job.job_id,
        "name": names[entry.job.job_id],
        "best_arm": entry.best[1],
        "mean": entry.mean.mean,
        "ci95": list(entry.mean.ci95) if entry.mean.ci95 else None,
        "n": entry.mean.n,
        "clusters": entry.mean.clusters,
        "arms": [
            {"arm": arm, "mean": mean.mean, "ci95": list(mean.ci95) if mean.ci95 else None}
            for arm, mean in entry.means.items()
        ],
    }


def site_files(
    benchmark: str, board: Mapping[str, Any], jobs: Sequence[JobRecord], report: Callable[[str], Report]
) -> dict[str, bytes]:
    """A site that needs no server: index.html, and of each job its page, spec and report."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= FILTERS
    shown = {"benchmark": benchmark, "board": board, "answer": board_answer(benchmark, board)}
    index, page = (environment.get_template(f"board_{name}.html.j2") for name in ("index", "entry"))
    files = {"index.html": index.render(shown).encode(errors="replace")}
    listed = {entry["job"] for entry in board["entries"]}
    for job in jobs:
        if job.id not in listed:
            continue
        spec = yaml.safe_dump(job.spec.model_dump(mode="json", exclude_defaults=True), sort_keys=False)
        entries = [entry for entry in board["entries"] if entry["job"] == job.id]
        text = page.render(shown, job=job.id, name=job.name or job.id, spec=spec, entries=entries)
        files[f"{job.id}.html"] = text.encode(errors="replace")
        files[f"{job.id}.yaml"] = spec.encode(errors="replace")
        files[f"{job.id}-report.html"] = render_html(report(job.id)).encode()
    return files


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The files as one archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return out.getvalue()
