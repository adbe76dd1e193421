"""Shows what the API's keys may do, what they have spent this month, and what was done with them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gnomon_service.api_keys import Key
from gnomon_workers.store.store import Store

SHOWN = 100  # deeds, and deleted jobs


def keys_view(store: Store, keys: Sequence[Key]) -> dict[str, Any]:
    """The keys, what was done last, and the jobs that were deleted last, as plain data."""
    return {
        "keys": [_view(store, key) for key in keys],
        "done": [done._asdict() for done in store.deeds(limit=SHOWN)],
        "deleted": [asdict(job) for job in store.deleted_jobs(limit=SHOWN)],
    }


def _view(store: Store, key: Key) -> dict[str, Any]:
    poster = key.poster
    spent = store.spent_this_month(poster.name)
    return {
        "name": poster.name,
        "owner": key.owner,
        "scope": key.scope,
        "until": key.until.isoformat() if key.until else None,
        "usd_budget": key.usd,
        "usd": spent.usd,
        "tokens_budget": key.tokens,
        "tokens": spent.tokens,
        "jobs": spent.jobs,
    }
