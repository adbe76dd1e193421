"""The list of jobs: what ran, and whether tools helped."""

from fastapi import APIRouter

from service.api.serializers import job_view
from service.api.state import Shared
from service.web.pages import View, page

router = APIRouter(include_in_schema=False)


@page(router, "/", "home.html.j2")
def home(state: Shared, cursor: str | None = None) -> View:
    """All jobs, unfinished ones first, then the newest."""
    listed = state.store.jobs(cursor=cursor, limit=50)
    jobs = [job_view(job) for job in listed.items]
    return {
        "title": "Jobs",
        "answer": "What giving a model tools changed, one line per job.",
        "jobs": jobs,
        "next_cursor": listed.next_cursor,
    }
