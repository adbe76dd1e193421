"""Builds the REST API: routes, middleware and error handlers as one FastAPI app."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from pydantic import TypeAdapter
from redis import Redis
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

import gnomon_service.api
import gnomon_service.web
from gnomon.exchange.format import written_names
from gnomon.spec.job_spec import JobSpec
from gnomon_service.answers import ANSWERS
from gnomon_service.api.access import authorised
from gnomon_service.api.examples import add_examples
from gnomon_service.api.middleware import RequestGuard
from gnomon_service.api.places import AllPlaces
from gnomon_service.api.problems import DOCUMENTED, SCHEMA, add_handlers
from gnomon_service.api.rate_limit import TokenBuckets
from gnomon_service.api.state import Looks, OpenStreams, State
from gnomon_service.derived_kinds import indexes_of, reports_of, verdicts_of
from gnomon_service.extension import EXTENSIONS
from gnomon_service.reply_watch import ReplyWatch
from gnomon_service.settings import Settings
from gnomon_service.web.page_memory import PageMemory
from gnomon_service.web.pages import as_page
from gnomon_service.web.questions import Questions
from gnomon_workers.store.store import Store

VERSION = "0.1.0"
DESCRIPTION = "Measures what giving a model tools changes in how well it reasons about space and time."


class Api(FastAPI):
    """FastAPI whose OpenAPI document also has the schemas of a job spec and a problem."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema:
            return self.openapi_schema
        document = super().openapi()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.update({**_spec_schemas(), "Problem": SCHEMA})
        add_answers(document)
        add_examples(document)
        for parameter in document["paths"]["/v1/jobs/{job_id}/export"]["get"]["parameters"]:
            if parameter["name"] == "format":
                parameter["schema"]["enum"] = list(written_names())
        return document


def _spec_schemas() -> dict[str, Any]:
    """The spec and its parts, each under its title: clients may know the parts by these names."""
    text = json.dumps(JobSpec.model_json_schema(ref_template="#/components/schemas/{model}"))
    for name, part in json.loads(text)["$defs"].items():
        text = text.replace(f'"#/components/schemas/{name}"', f'"#/components/schemas/{part["title"]}"')
    spec = json.loads(text)
    return {**{part["title"]: part for part in spec.pop("$defs").values()}, "JobSpec": spec}


def add_answers(document: dict[str, Any]) -> None:
    """Put the schema of what each route answers into an OpenAPI document, and those of its parts.

    They are put in here, as a response model of FastAPI's would check and copy every row that is sent.
    """
    schemas = document["components"]["schemas"]

    def schema_of(answer: Any) -> dict[str, Any]:
        schema = TypeAdapter(answer).json_schema(
            ref_template="#/components/schemas/{model}", mode="serialization"
        )
        schemas.update(schema.pop("$defs", {}))
        return schema

    for path, verbs in document["paths"].items():
        for verb, route in verbs.items():
            answer = ANSWERS.get(f"{verb.upper()} {path}")
            if answer is not None:
                status = next(status for status in route["responses"] if status.startswith("2"))
                schema = schema_of(answer)
                if schema.get("title"):  # a part with a name of its own
                    schemas[schema["title"]] = schema
                    schema = {"$ref": f"#/components/schemas/{schema['title']}"}
                content = route["responses"][status].setdefault("content", {})
                content.setdefault("application/json", {})["schema"] = schema


def create_app(settings: Settings, *, store: Store, redis: Redis) -> Api:
    """The REST API over a store and a queue, which the caller opens and closes."""
    guard = Middleware(RequestGuard, is_keyless=not settings.api_keys)
    app = Api(
        title="Gnomon",
        version=VERSION,
        description=DESCRIPTION,
        docs_url=None,  # the stock pages load scripts from other hosts; `documentation` serves its own
        redoc_url=None,
        middleware=[guard],
        responses=DOCUMENTED,
        routes=all_routes(),
    )
    of_jobs = reports_of(store)
    app.state.gnomon = State(
        settings=settings,
        store=store,
        redis=redis,
        reports=of_jobs,
        verdicts=verdicts_of(store, of_jobs),
        indexes=indexes_of(store),
        replies=ReplyWatch(store),
        memory=PageMemory(store),
        pace=TokenBuckets(settings.max_per_minute),
        streams=OpenStreams(),
        looks=Looks(),
        questions=Questions(settings.data_dir),
        places=AllPlaces(),
    )
    add_handlers(app, as_page)
    return app


@cache
def all_routes() -> list[BaseRoute]:
    """Our routes and those of extensions. The apps of a process share them, as they hold nothing of one.

    A module of `gnomon_service.api` or `gnomon_service.web` has a `router`, which needs the API's key, or an
    `open_router`, which needs none.
    """
    routers = APIRouter(responses=DOCUMENTED)
    added = (router for extension in EXTENSIONS for router in extension.routers())
    for router in (*our_routers("router"), *added):
        routers.include_router(router, dependencies=[Depends(authorised)])
    for router in our_routers("open_router"):
        routers.include_router(router)
    return routers.routes


def our_routers(name: str) -> Iterator[APIRouter]:
    """What our modules of routes and pages call `router` or `open_router`, in the order of their names."""
    for package in (gnomon_service.api, gnomon_service.web):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            router = getattr(import_module(module.name), name, None)
            if isinstance(router, APIRouter):
                yield router
