"""The page of the keys: whose they are, what they have spent this month, and who did what."""

from fastapi import APIRouter

from gnomon.report.text_formats import count
from gnomon_service.actions import keep_looks
from gnomon_service.api.state import Shared
from gnomon_service.keys_view import keys_view
from gnomon_service.web.pages import View, page

router = APIRouter(include_in_schema=False)


@page(router, "/ui/keys", "keys.html.j2", is_cheap=True)
def keys(state: Shared) -> View:
    """The keys, and the last of what was done with jobs."""
    keep_looks(state)
    view = keys_view(state.store, state.settings.api_keys.entries())
    held = [key for key in view["keys"] if key["usd_budget"] is not None or key["tokens_budget"] is not None]
    if not view["keys"]:
        answer = "No keys are set: whoever may use this machine may do everything."
    else:
        counted = f"{count(len(view['keys']), 'key')}, {len(held):,} with a monthly budget"
        answer = f"{counted}. Every key sees all jobs."
    return {"title": "Keys", "answer": answer, **view}
