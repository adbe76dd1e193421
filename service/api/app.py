"""The app: routes, guard and error handlers put together into one value."""

from fastapi import Depends, FastAPI
from redis import Redis
from starlette.middleware import Middleware

from service.api import catalog, documentation, events, health, jobs, metrics, reports, tools, trials, workers
from service.api.guard import Guard, authorised
from service.api.problems import add_handlers
from service.api.state import State
from service.settings import Settings
from workers.store.store import Store

VERSION = "0.1.0"
DESCRIPTION = "Finds out what giving a model tools changes in how well it reasons about space and time."
KEYED = (jobs, trials, events, reports, catalog, tools, workers, metrics)
OPEN = (health, documentation)


def create_app(settings: Settings, *, store: Store, redis: Redis) -> FastAPI:
    """The REST API over a store and a queue, which the caller opened and will close."""
    state = State(settings=settings, store=store, redis=redis)
    app = FastAPI(
        title="Gnomon",
        version=VERSION,
        description=DESCRIPTION,
        docs_url=None,  # the stock pages load scripts from elsewhere; `documentation` serves its own
        redoc_url=None,
        middleware=[
            Middleware(Guard, max_body_bytes=settings.max_body_bytes, is_keyless=not settings.api_keys)
        ],
    )
    app.state.gnomon = state
    add_handlers(app)
    for module in KEYED:
        app.include_router(module.router, dependencies=[Depends(authorised)])
    for module in OPEN:
        app.include_router(module.router)
    return app
