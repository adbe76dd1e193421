"""The boards of a benchmark: who leads, within error, and the same as a static site."""

from collections.abc import Sequence

from fastapi import APIRouter
from fastapi.responses import Response

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import NotFound
from gnomon.exchange.imported_job import asked_and_scored
from gnomon_analyses.board.record import board_answer, board_record, boards_of, site_files, zipped
from gnomon_analyses.comparing.compared_jobs import IndexedJob
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import HEADERS, View, page
from gnomon_workers.store.records import JobRecord

router = APIRouter(include_in_schema=False)


@router.get("/ui/board.zip", response_model=None)
@in_place("reports")
def board_site(state: Shared, benchmark: str, key: str = "") -> Response:
    """The board as a site in an archive."""
    boards = boards_of(state.store, benchmark)
    key = key if key in boards else next(iter(boards), "")
    if not key:
        raise NotFound(f"no ended job of {benchmark!r}", field="benchmark")
    jobs = boards[key]
    board = board_record(key, jobs, _indexed(state, jobs))
    files = site_files(benchmark, board, jobs, lambda job_id: state.reports.get(job_id).value)
    headers = {**HEADERS, "Content-Disposition": 'attachment; filename="board.zip"'}
    return Response(zipped(files), media_type="application/zip", headers=headers)


@page(router, "/ui/board", "board.html.j2")
def board_page(state: Shared, benchmark: str = "worlds", key: str = "") -> View:
    """One board of a benchmark, and which others there are."""
    boards = boards_of(state.store, benchmark)
    key = key if key in boards else next(iter(boards), "")
    board = board_record(key, boards[key], _indexed(state, boards[key])) if key else None
    return {
        "title": f"Board of {benchmark}",
        "answer": board_answer(benchmark, board) if board else f"No job of {benchmark} has ended yet.",
        "benchmark": benchmark,
        "board": board,
        "boards": [
            {
                "key": name,
                "jobs": len(jobs),
                "protocol": asked_and_scored(jobs[0].spec)[0],
                "scoring": asked_and_scored(jobs[0].spec)[1],
                "samples": jobs[0].spec.select.limit,
            }
            for name, jobs in boards.items()
        ],
        "_benchmarks": BENCHMARKS.names(),
    }


def _indexed(state: State, jobs: Sequence[JobRecord]) -> list[IndexedJob]:
    return [IndexedJob(job_id=job.id, spec=job.spec, index=state.indexes.get(job.id).value) for job in jobs]
