"""The list of jobs: what ran, whether tools helped, and what needs attention.

The list is of one moment, `as_of`: while a page is looked at, its rows stay where they are. Jobs that have
come since are counted; a job that ends stays among the unfinished ones.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse

from gnomon.report.text_formats import count
from gnomon.spec.spec_file import load_yaml
from gnomon_service import actions, jobs
from gnomon_service.api.access import Who
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.derived_kinds import JobVerdict, verdict_stamp
from gnomon_service.web.job_rows import Row, job_row, money, reach_of, summary
from gnomon_service.web.pages import View, page
from gnomon_workers.circuit_breaker import FINAL
from gnomon_workers.store.records import JobDigest

LISTED = 5_000  # jobs that are counted and searched; older ones: GET /v1/jobs
PAGE_ROWS = 50
NEEDING = 3  # jobs that the strip names
MAX_WORDS = 200  # characters of a search
QUIET_S, BUSY_S = 10, 1  # how often the list looks for news
Show = Literal["all", "running", "helps", "hurts", "no_effect", "undecided", "stopped", "needs"]
Sort = Literal["newest", "name", "difference", "cost"]
WORDS: Mapping[Show, str] = {
    "all": "All",
    "running": "Running",
    "helps": "Helps",
    "hurts": "Hurts",
    "no_effect": "No effect",
    "undecided": "Undecided",
    "stopped": "Stopped",
    "needs": "Needs you",
}
Verdicts = Mapping[str, JobVerdict | None]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the address asks for."""

    show: Show
    benchmark: str
    owner: str
    words: str
    sort: Sort

    def address(self, **changes: str) -> str:
        """The list's address with other values; what is as usual is left out."""
        values = {
            "show": self.show,
            "benchmark": self.benchmark,
            "owner": self.owner,
            "q": self.words,
            "sort": self.sort,
        }
        values |= changes
        usual = {"show": "all", "sort": "newest"}
        query = urlencode({name: value for name, value in values.items() if value != usual.get(name, "")})
        return f"/?{query}" if query else "/"


@page(router, "/", "home.html.j2", is_cheap=True)
def home(
    state: Shared,
    show: str = "all",
    benchmark: Annotated[str, Query(max_length=80)] = "",
    owner: Annotated[str, Query(max_length=40)] = "",
    q: Annotated[str, Query(max_length=MAX_WORDS)] = "",
    sort: str = "newest",
    after: Annotated[str, Query(max_length=40)] = "",
    as_of: float | None = None,
) -> View:
    """All jobs, unfinished ones first, then the newest."""
    now_s = time.time()
    wanted = Wanted(
        show=show if show in get_args(Show) else "all",  # type: ignore[arg-type]
        benchmark=benchmark,
        owner=owner,
        words=q.strip(),
        sort=sort if sort in get_args(Sort) else "newest",  # type: ignore[arg-type]
    )
    as_of_s = as_of or now_s
    digests = state.store.digests(limit=LISTED, words=wanted.words, owner=owner)
    come_since = [job for job in digests if job.created_s > as_of_s]
    listed = [job for job in digests if job.created_s <= as_of_s]
    verdicts = state.verdicts.listed(
        {
            job.id: verdict_stamp(job.status, job.processed, job.infra_missing)
            for job in listed
            if job.status == "completed"
        }
    )
    benchmarks = sorted({job.benchmark for job in listed} | ({benchmark} if benchmark else set()))
    here = [job for job in listed if not benchmark or job.benchmark == benchmark]
    needing = _needing(state, here)
    is_needing = {job.id for job in needing}
    kinds = {job.id: _kinds(job, verdicts, is_needing=job.id in is_needing) for job in here}
    counts = Counter(kind for job in here for kind in kinds[job.id])
    chosen = [job for job in here if wanted.show in kinds[job.id]]
    chosen.sort(key=_sorting(wanted.sort, verdicts))
    chosen.sort(key=lambda job: not _was_open(job, as_of_s))
    start = next((at + 1 for at, job in enumerate(chosen) if job.id == after), 0)
    shown = chosen[start : start + PAGE_ROWS]
    due = state.verdicts.being_made()
    rows = _rows(state, [*shown, *needing[:NEEDING]], verdicts, due=due, now_s=now_s)
    is_live = any(job.is_open or job.id in due for job in shown)
    place = {"after": after, "as_of": f"{as_of_s:.3f}"}
    is_more = start + PAGE_ROWS < len(chosen)
    return {
        "title": "Jobs",
        "answer": _answer(counts, is_all=not (wanted.words or benchmark or owner)),
        "jobs": [rows[job.id] for job in shown if job.id in rows],
        "needs_you": [rows[job.id] for job in needing[:NEEDING] if job.id in rows],
        "needing": len(needing),
        "now": _now(state, here, now_s=now_s),
        "filters": [
            {
                "show": kind,
                "word": word,
                "jobs": counts[kind],
                "href": wanted.address(show=kind),
                "is_chosen": kind == wanted.show,
            }
            for kind, word in WORDS.items()
            if kind != "needs" or counts["needs"] or wanted.show == "needs"
        ],
        "benchmarks": benchmarks,
        "owners": sorted({*state.store.owners(), owner} - {""}),
        "chosen": {
            "show": wanted.show,
            "benchmark": benchmark,
            "owner": owner,
            "q": wanted.words,
            "sort": wanted.sort,
        },
        "sorts": {name: wanted.address(sort=name) for name in get_args(Sort)},
        "reach": reach_of([rows[job.id] for job in shown if job.id in rows]),
        "total": len(chosen),
        "first": start + 1 if shown else 0,
        "last": start + len(shown),
        "older": wanted.address(after=shown[-1].id, as_of=place["as_of"]) if is_more else "",
        "is_later_page": start > 0,
        "newest": wanted.address(),
        "come_since": len(come_since),
        "again": wanted.address(**place),
        "poll_s": BUSY_S if is_live else QUIET_S,
        "is_empty": not digests and not (wanted.words or owner),
        "heard": "; ".join(summary(rows[job.id]) for job in shown if job.is_open and job.id in rows),
    }


@router.post("/ui/demo", response_model=None)
@in_place("jobs")
def start_demo(state: Shared, who: Who) -> RedirectResponse:
    """Submit the demonstration as a job, and show it."""
    text = files("gnomon_service.cli").joinpath("demo.yaml").read_text(encoding="utf-8")
    draft = jobs.draft_from_request(load_yaml(text), state.settings)
    job = actions.post(state, draft, who)
    return RedirectResponse(f"/#{job.id}", status_code=303)


@router.get("/ui/picked")
def picked(job: Annotated[list[str] | None, Query()] = None) -> RedirectResponse:
    """Compare the jobs that were ticked."""
    return RedirectResponse(
        f"/ui/compare?{urlencode({'jobs': ','.join(job or [])}, safe=',')}", status_code=303
    )


def _was_open(job: JobDigest, as_of_s: float) -> bool:
    return job.is_open or (job.finished_s or 0.0) > as_of_s


def _needing(state: State, digests: Sequence[JobDigest]) -> list[JobDigest]:
    """Jobs that lack trials that nobody gave up: ended ones can be resumed, a key of an open one mended."""
    losing = [job for job in digests if job.is_open and job.infra_missing]
    causes = state.memory.missing(losing)
    stuck = {job.id for job in losing if any(_is_final(missing.cause) for missing in causes[job.id])}
    return [
        job
        for job in digests
        if job.status == "failed"
        or (job.status == "completed" and job.infra_missing)
        or (job.is_open and (job.is_budget_exhausted or job.id in stuck))
    ]


def _is_final(cause: str) -> bool:
    return cause == "budget" or cause.removeprefix("provider:") in FINAL


def _kinds(job: JobDigest, verdicts: Verdicts, *, is_needing: bool) -> set[str]:
    """The filters that the job passes."""
    kinds = {"all", "needs"} if is_needing else {"all"}
    if job.is_open:
        kinds.add("running")
    elif job.status != "completed":
        kinds.add("stopped")
    elif (verdict := verdicts.get(job.id)) is not None:
        kinds.add(verdict.word)
    elif job.id not in verdicts:
        kinds.add("due")
    return kinds


def _sorting(sort: Sort, verdicts: Verdicts) -> Callable[[JobDigest], Any]:
    def difference(job: JobDigest) -> float:
        verdict = verdicts.get(job.id)
        return -verdict.diff if verdict and verdict.diff is not None else float("inf")

    keys: Mapping[Sort, Callable[[JobDigest], Any]] = {
        "newest": lambda job: -job.number,
        "name": lambda job: (job.name.casefold(), -job.number),
        "difference": lambda job: (difference(job), -job.number),
        "cost": lambda job: (-job.known_usd, -job.number),
    }
    return keys[sort]


def _rows(
    state: State, digests: Sequence[JobDigest], verdicts: Verdicts, *, due: Collection[str], now_s: float
) -> dict[str, Row]:
    records = state.store.jobs_of(list(dict.fromkeys(job.id for job in digests)))
    missing = state.memory.missing(digests)
    return {
        job.id: job_row(
            job,
            now_s=now_s,
            verdict=verdicts.get(job.id),
            is_verdict_due=job.id in due,
            per_second=(
                state.memory.job_rates.per_second(job.id, job.counts.done)
                if job.status == "running"
                else None
            ),
            missing=missing.get(job.id, ()),
        )
        for job in records
    }


def _now(state: State, digests: Sequence[JobDigest], *, now_s: float) -> dict[str, Any]:
    """What is going on: jobs that run and wait, workers, and what was spent on the jobs of this day."""
    midnight_s = now_s - now_s % 86_400
    statuses = Counter(job.status for job in digests)
    workers = state.store.workers()
    return {
        "running": statuses["running"],
        "waiting": statuses["queued"] + statuses["preparing"],
        "workers": len(workers),
        "busy": sum(worker.state == "busy" for worker in workers),
        "spent_today": money(sum(job.known_usd for job in digests if job.created_s >= midnight_s)),
    }


def _answer(counts: Mapping[str, int], *, is_all: bool) -> str:
    """What ran, and whether tools helped, in one sentence."""
    if not counts["all"]:
        return "No job has run here yet." if is_all else "No job matches."
    judged = _counted(
        counts, {"helps": "helped in", "hurts": "hurt in", "no_effect": "made no difference in"}
    )
    parts = [f"tools {', '.join(judged)}"] if judged else []
    others = {
        "undecided": "undecided",
        "running": "unfinished",
        "stopped": "stopped",
        "due": "with a verdict on its way",
    }
    parts += [f"{counts[kind]:,} {word}" for kind, word in others.items() if counts[kind]]
    which = count(counts["all"], "job") + ("" if is_all else " of these")
    return f"{which}: {'; '.join(parts) or 'none with a verdict yet'}."


def _counted(counts: Mapping[str, int], words: Mapping[str, str]) -> list[str]:
    return [f"{word} {counts[kind]:,}" for kind, word in words.items() if counts[kind]]
