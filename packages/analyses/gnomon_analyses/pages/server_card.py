"""The page of a server's card: whether it helps, which of its tools carry it, and which mislead."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter

from gnomon.core.errors import NotFound
from gnomon.report.trial_index.filters import FIXED, REGRESSED
from gnomon_analyses.presets.mcp_card import PAGE, mcp_card
from gnomon_service.api.state import Shared
from gnomon_service.web.pages import View, page
from gnomon_workers.store.records import OPEN, JobRecord

if TYPE_CHECKING:  # else imported late: with SciPy's functions, a third of the API's start
    from gnomon_analyses.server_cards import CardTool, ServerCard

PATIENCE_S = 3.0  # how long the page waits for the job's report
SIDES = {  # by what misled: the arms whose samples changed
    "live": ("raw", "live"),
    "placebo": ("raw", "placebo"),
    "silent_faults": ("live", "silent_faults"),
    "explicit_faults": ("live", "explicit_faults"),
}

router = APIRouter(include_in_schema=False)


@page(router, f"/ui/jobs/{{job_id}}/{PAGE.path}", "server_card.html.j2")
def card_page(state: Shared, job_id: str) -> View:
    """The card of each model, with links to the samples behind its counts."""
    from gnomon_analyses.server_cards import ROLES, card_picture

    job = state.store.job(job_id)
    if job.spec.analysis.preset != mcp_card.name:
        raise NotFound(f"job {job_id!r} has no card: its arms are not those of the preset {mcp_card.name}")
    is_open = job.status in OPEN
    made, problem = state.reports.soon(job.id, patience_s=PATIENCE_S)
    report: Any = {} if made is None or is_open or not made.is_current else made.value
    cards: list[ServerCard] = report.get("server_cards", [])
    ended = f"{job.counts.done:,} of {job.counts.planned:,} trials have ended"
    if is_open:
        answer = f"The card comes at the end: {ended}."
    elif problem:
        answer = f"The card cannot be made: {problem}"
    elif cards:
        answer = cards[0]["sentences"][0]
    else:
        answer = (
            "The card is being made."
            if made is None or not made.is_current
            else f"There is nothing to compare: {ended}."
        )
    return {
        "title": f"The card of {', '.join(job.spec.servers) or 'our own tools'}",
        "answer": answer,
        "job": {"id": job.id, "name": job.name or job.spec.benchmark, "status": job.status},
        "cards": [_card(job, card) for card in cards],
        "is_due": not (problem or is_open or (made is not None and made.is_current)),
        "_pictures": [card_picture(card) for card in cards],
        "_roles": ROLES,
    }


def _card(job: JobRecord, card: "ServerCard") -> dict[str, Any]:
    """The card as the report has it, and where the samples behind a count are."""
    model = card["model"]
    return {
        **card,
        "tools": [{**tool, **_links(job, model, tool)} for tool in card["tools"]],
        "misled": [
            {**row, "href": _href(job, model, SIDES[row["kind"]], changed=REGRESSED)}
            for row in card["misled"]
        ],
    }


def _links(job: JobRecord, model: str, tool: "CardTool") -> dict[str, str]:
    pair = SIDES["live"]
    return {
        "fixed_href": _href(job, model, pair, changed=FIXED, tool=tool["tool"]),
        "broken_href": _href(job, model, pair, changed=REGRESSED, tool=tool["tool"]),
    }


def _href(job: JobRecord, model: str, pair: tuple[str, str], **more: str) -> str:
    query = [("model", model)] if len(job.spec.models) > 1 else []
    query += [("baseline", pair[0]), ("variant", pair[1]), *more.items()]
    return f"/ui/jobs/{job.id}/trials?{urlencode(query)}"
