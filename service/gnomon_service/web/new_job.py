"""The form of a new job: its spec, what it would cost and what it could detect, before anything is spent."""

import asyncio
import secrets
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

from gnomon.benchmarks.questions.rows import Reading
from gnomon.benchmarks.questions.scorers.scorers import SCORERS
from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import (
    BENCHMARKS,
    Benchmark,
    PromptProtocol,
    ReadsOwnFiles,
)
from gnomon.core.errors import GnomonError, SpecError, Unavailable
from gnomon.core.ids import stable_hash
from gnomon.core.redaction import without_folders
from gnomon.core.tool_inputs import usable_tools
from gnomon.media.uploads import KINDS, MOST_BYTES, is_upload, kind_of, new_part
from gnomon.report.text_formats import count
from gnomon.spec.pasted_keys import text_without_keys, without_keys
from gnomon.spec.preset import PRESETS
from gnomon.spec.spec_file import MAX_SPEC_BYTES, load_yaml
from gnomon.stopping import followed
from gnomon_service import actions, jobs, uploads
from gnomon_service.answers import UploadView
from gnomon_service.api.access import Who
from gnomon_service.api.state import Shared, State
from gnomon_service.endpoint_checks import check_endpoints_of
from gnomon_service.web.job_rows import money
from gnomon_service.web.pages import View, page, respond
from gnomon_service.web.spec_form import (
    CONDITIONS,
    DEFAULT,
    MODEL_FIELDS,
    as_yaml,
    blank_entry,
    changed,
    form_of,
    spec_as_written,
    with_upload,
)
from gnomon_workers.poster import Poster

TEMPLATE = "new_job.html.j2"
MOST_WHILE_TYPING = 20_000  # samples that are opened before the author asks for it
CHOICES = {"columns.question": "the question", "columns.answer": "the right answer"}  # of every file
TYPICAL_SHARE = 0.2  # of samples on which two arms differ: for the one number of the headline
FEW_CLUSTERS = 20  # below intervals are wide
PATIENCE_S = 20.0
MODELS = ("reference", "openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro")

router = APIRouter(include_in_schema=False)


@page(router, "/ui/new", TEMPLATE)
def new_job(state: Shared, source: Annotated[str, Query(alias="from", max_length=40)] = "") -> View:
    """A new job, like the job `from` where one is named."""
    written = spec_as_written(state.store.job(source).spec) if source else DEFAULT
    return _checked(state, written, as_yaml(written), is_typing=False)


@router.get("/ui/new/check")
@router.get("/ui/new/endpoint")
@router.get("/ui/new/upload")
def begin_again() -> RedirectResponse:
    """The address of a check that was reloaded."""
    return RedirectResponse("/ui/new", status_code=303)


@router.post("/ui/new/check", response_model=None)
async def check(request: Request, state: Shared) -> Response:
    """The form with its plan, as it was filled in."""
    async with request.form() as posted:
        view = await state.places.pages.run(request, partial(_view_of, state, posted))
    return respond(request, TEMPLATE, view)


@router.post("/ui/new/upload", response_model=None)
async def upload(request: Request, state: Shared) -> Response:
    """The form with the questions of a file that was sent with it."""
    async with state.places.uploads.taken(asyncio.Event()), request.form() as posted:
        view = await state.places.jobs.run(request, partial(_uploaded, state, posted))
    return respond(request, TEMPLATE, view)


@router.post("/ui/new/endpoint", response_model=None)
async def check_endpoint(request: Request, state: Shared) -> Response:
    """The form with its plan, and what the endpoints of its models are fit for: they are called for it."""
    async with request.form() as posted:
        view = await state.places.pages.run(request, partial(_view_of, state, posted))
    if view["fault"] is None:
        try:
            view["endpoints"] = await _endpoints_of(view["yaml"], state, request.is_disconnected)
        except GnomonError as error:
            view["endpoints"] = {"fault": without_folders(str(error))}
    return respond(request, TEMPLATE, view)


async def _endpoints_of(text: str, state: State, is_gone: Callable[[], Awaitable[bool]]) -> dict[str, Any]:
    if not state.memory.checking.acquire(blocking=False):
        raise Unavailable("other endpoints are being checked; press Check the endpoint in a moment")
    try:
        draft = await run_sync(partial(jobs.draft_from_request, load_yaml(text), state.settings))
        return await check_endpoints_of(draft, state.settings, is_gone=is_gone)
    finally:
        state.memory.checking.release()


@router.post("/ui/jobs", response_model=None)
async def run(request: Request, state: Shared, who: Who) -> Response:
    """Store and queue the job, and show it; the form again where it may not run."""
    async with request.form() as posted:
        job_id, view = await state.places.jobs.run(request, partial(_submitted, state, posted, who))
    if view is not None:
        return respond(request, TEMPLATE, view, status=422)
    return RedirectResponse(f"/ui/jobs/{job_id}", status_code=303)


@router.get("/ui/new/steps/{token}")
async def steps(state: Shared, token: str) -> PlainTextResponse:
    """How far the check of that page is; empty where none runs, or has just begun."""
    return PlainTextResponse(state.memory.steps.get(token, ""))


def _token(posted: FormData) -> str:
    return str(posted.get("token", ""))[:40]


@contextmanager
def _followed(state: State, posted: FormData) -> Iterator[None]:
    """Within, the page hears how far it is."""
    memory, token = state.memory.steps, _token(posted)
    try:
        with followed(partial(memory.__setitem__, token)):
            yield
    finally:
        memory.pop(token, None)


def _view_of(state: State, posted: FormData) -> View:
    try:
        written, text = _written(posted)
    except SpecError as error:
        return _shown(state, changed({}, posted), str(posted.get("yaml", "")), fault=error, field="yaml")
    with _followed(state, posted):
        return _checked(state, written, text, is_typing="typing" in posted)


def _uploaded(state: State, posted: FormData) -> View:
    written: object = changed({}, posted)
    text = str(posted.get("yaml", ""))
    try:
        written, text = _written(posted)
        file, media = posted.get("file"), state.questions.media
        if not isinstance(file, UploadFile) or not file.filename:
            raise SpecError("choose a file first", field="file")
        kind = kind_of(file.filename)
        with new_part(media) as part:
            with part.open("xb") as whole:
                shutil.copyfileobj(file.file, whole)
            data = uploads.keep(part, kind, state.settings, media)
        columns = uploads.view_of(data, Reading(), media, is_read_through=False)["columns"]
    except GnomonError as error:
        return _shown(state, written, text, fault=error, field="file")
    spec = with_upload(written, data, columns)
    return _checked(state, spec, as_yaml(spec), is_typing=True)


def _submitted(state: State, posted: FormData, who: Poster) -> tuple[str, View | None]:
    """The id of the job that was stored, or the form that says why none was."""
    try:
        written, text = _written(posted)
        draft = _draft(state, written)
        key = f"page-{_token(posted)}-{stable_hash(text)}"  # a second click is the same job
        return actions.post(state, draft, who, idempotency_key=key).id, None
    except GnomonError as error:
        view = _view_of(state, posted)
        if view["fault"] is None:  # the spec may run, but not now, or not with this key
            view = _shown(state, written, text, fault=error, field=error.field)
        return "", view


def _written(posted: FormData) -> tuple[object, str]:
    """The spec that was sent, and its YAML: that which was edited, else with what the form says.

    Raises:
        SpecError: the YAML cannot be read.
    """
    text, before = (str(posted.get(name, "")).replace("\r\n", "\n") for name in ("yaml", "yaml_before"))
    if len(text) > MAX_SPEC_BYTES:
        raise SpecError(f"more than {MAX_SPEC_BYTES:,} characters", field="yaml")
    written = load_yaml(text)
    is_edited = text.strip() != before.strip()
    if not is_edited:
        written = changed(written, posted)
        text = as_yaml(written)
    return written, text


def _checked(state: State, written: object, text: str, *, is_typing: bool) -> View:
    """The form with a plan of the spec, or with what is wrong with it."""
    if blank := blank_entry(written):
        return _shown(state, written, text, note=blank)
    select = written.get("select") if isinstance(written, Mapping) else None
    limit = select.get("limit") if isinstance(select, Mapping) else None
    if is_typing and isinstance(limit, int) and limit > MOST_WHILE_TYPING:
        return _shown(state, written, text, note=f"Press Check: a plan of {limit:,} samples takes a moment.")
    if is_typing and _has_large_upload(state, written):
        return _shown(state, written, text, note="Press Check: so many questions take a while to read.")
    if is_typing and _names_servers(written):
        return _shown(
            state, written, text, note="Press Check: its tool servers are asked which tools they have."
        )
    try:
        return _shown(state, written, text, plan=_plan(state, written))
    except GnomonError as error:
        return _shown(state, written, text, fault=error, field=error.field)


def _has_large_upload(state: State, written: object) -> bool:
    data = written.get("data") if isinstance(written, Mapping) else None
    try:
        return isinstance(data, str) and is_upload(data) and uploads.is_large(data, state.questions.media)
    except GnomonError:
        return False  # which the check tells


def _names_servers(written: object) -> bool:
    """Whether the spec names servers whose tools are not listed yet: to list them starts each of them."""
    form = form_of(written)
    return bool(form["servers"]) or any(arm["servers"] for arm in form["arms"])


def _plan(state: State, written: object) -> dict[str, Any]:
    from gnomon_service.planning import plan  # late: the prices of all models are read with it

    if not state.memory.planning.acquire(timeout=PATIENCE_S):
        raise Unavailable("other plans are being made; press Check in a moment")
    try:
        return plan(_draft(state, written))
    finally:
        state.memory.planning.release()


def _draft(state: State, written: object) -> jobs.Draft:
    """The spec, checked; of a large upload, which never changes, what an earlier check has read."""
    check = partial(jobs.draft_from_request, written, state.settings)
    return state.memory.draft(stable_hash(written), check) if _has_large_upload(state, written) else check()


def _shown(
    state: State,
    written: object,
    text: str,
    *,
    plan: dict[str, Any] | None = None,
    fault: GnomonError | None = None,
    field: str = "",
    note: str = "",
) -> View:
    struck = without_keys(written)
    if struck != written:
        written, text = struck, as_yaml(struck)
    text, field = text_without_keys(text), text_without_keys(field)
    form = form_of(written)
    name = form["values"]["benchmark"]
    plugin = BENCHMARKS.find(name)
    message = "" if fault is None else text_without_keys(without_folders(fault.message))
    nearest, path = _nearest(field, form), field
    if message and field in CHOICES and not form["values"].get(field):
        message, path = f"choose the column that holds {CHOICES[field]}", ""
    return {
        "title": "New job",
        "answer": note or _answer(plan, message, path),
        "plan": None if plan is None else _plan_view(plan),
        "endpoints": None,
        "fault": None if fault is None else {"field": nearest, "path": path, "message": message},
        "form": form,
        "yaml": text,
        "command": f"cat > job.yaml <<'END'\n{text.rstrip()}\nEND\ngnomon run job.yaml",
        "token": secrets.token_hex(8),
        "models_known": MODELS,
        "benchmarks": [
            {"name": each, "summary": BENCHMARKS.summary_of(each)} for each in BENCHMARKS.working_names()
        ],
        "benchmark": _benchmark(plugin),
        "upload": _upload_of(state, written),
        "upload_bytes": MOST_BYTES,
        "upload_kinds": [f".{kind}" for kind in KINDS],
        "scorers": list(SCORERS),
        "conditions": CONDITIONS,
        "agents": [{"name": each, "summary": AGENTS.summary_of(each)} for each in AGENTS.working_names()],
        "presets": [
            {"name": preset.name, "description": PRESETS.with_origin(preset.name, preset.description)}
            for preset in PRESETS
        ],
    }


def _upload_of(state: State, written: object) -> UploadView | None:
    """What is in the upload that the spec names; None where it names none, or it cannot be read."""
    spec = written if isinstance(written, Mapping) else {}
    data, columns = spec.get("data"), spec.get("columns")
    if not isinstance(data, str) or not is_upload(data):
        return None
    protocol: PromptProtocol = "official" if spec.get("protocol") == "official" else "guarded"
    try:
        named = {
            ours: theirs if isinstance(theirs, str) else tuple(theirs)
            for ours, theirs in (columns or {}).items()
        }
        reading = uploads.reading_of(named, spec.get("scorer"))
    except (GnomonError, AttributeError, TypeError):  # which the check tells
        reading = Reading()
    try:
        return uploads.view_of(data, reading, state.questions.media, protocol=protocol, is_read_through=False)
    except GnomonError:
        return None


def _benchmark(plugin: Benchmark | None) -> dict[str, Any]:
    if plugin is None:
        return {"tasks": [], "scenes": [], "needs_data": False, "is_own_file": False, "tools": []}
    return {
        "tasks": [] if isinstance(plugin, ReadsOwnFiles) else list(plugin.tasks),
        "scenes": list(plugin.scenes),
        "needs_data": plugin.needs_data,
        "is_own_file": isinstance(plugin, ReadsOwnFiles),
        "tools": usable_tools(plugin),
    }


def _nearest(field: str, form: Mapping[str, Any]) -> str:
    """The form's field that a path of the spec belongs to; the YAML where it has none.

    >>> form = form_of(DEFAULT)
    >>> _nearest("select.limit", form), _nearest("arms.1.tools.0", form), _nearest("models.0.price", form)
    ('select.limit', 'arms.1.tools', 'yaml')
    """
    names = {"file", *form["values"], *form["lists"], "preset", *(["arms.tools"] if form["preset"] else [])}
    for kind, fields in (
        ("models", MODEL_FIELDS),
        ("arms", ("name", "agent", "tools", "max_tool_calls", *CONDITIONS)),
    ):
        names |= {f"{kind}.{at}.{each}" for at in range(len(form[kind])) for each in fields}
    path = {"arms.preset": "preset", "select": "select.limit"}.get(field, field)
    while path and path not in names:
        path = path.rpartition(".")[0]
    return path or "yaml"


def _answer(plan: Mapping[str, Any] | None, message: str, field: str) -> str:
    if plan is None:
        first_line = message.partition("\n")[0]
        return f"This cannot run yet: {field + ': ' if field else ''}{first_line}"
    return f"{count(plan['trials'], 'trial')}, {_price(plan)}. {_detects(plan)}"


def _price(plan: Mapping[str, Any]) -> str:
    if plan["usd"] is None:
        return "price unknown"
    return "at no cost" if plan["usd"] == 0 else f"about {money(plan['usd'])}"


def _detects(plan: Mapping[str, Any]) -> str:
    if not plan["comparisons"]["primary"]:
        return "One arm: there is nothing to compare."
    row = next(row for row in plan["detectable"] if row["discordant"] == TYPICAL_SHARE)
    share = f"where two arms differ on {TYPICAL_SHARE:.0%} of the samples".replace("%", " %")
    if row["all"] is None:
        return f"This job is too small to find a difference {share}. {row['all_note']}{_enough(plan)}"
    return f"8 of 10 such jobs would find a difference of {100 * row['all']:.1f} points {share}."


def _enough(plan: Mapping[str, Any]) -> str:
    """How many samples would do where the job is too small for any difference; else nothing."""
    if "enough" not in plan:
        return ""
    largest = plan["enough"]["sizes"][0]
    samples, clusters = count(largest["samples"], "sample"), count(largest["clusters"], "cluster")
    return f" About {samples} in {clusters} would be enough for {100 * largest['effect']:.0f} points."


def _plan_view(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The plan as the panel shows it."""
    arms = [
        {
            "model": arm["model"],
            "arm": arm["arm"],
            "trials": arm["trials"],
            "tokens": None
            if arm["prompt_tokens"] is None
            else arm["prompt_tokens"] + arm["completion_tokens"],
            "price": "unknown" if arm["usd"] is None else money(arm["usd"]),
            "at_most": "unknown" if arm["usd_at_most"] is None else money(arm["usd_at_most"]),
        }
        for arm in plan["arms"]
    ]
    detectable = [
        {
            "share": f"{row['discordant']:.0%}".replace("%", " %"),
            "all": _points(row["all"]),
            "smallest_cell": _points(row["smallest_cell"]),
        }
        for row in plan["detectable"]
    ]
    notes = [row[f"{scope}_note"] for scope in ("all", "smallest_cell") for row in plan["detectable"]]
    return {
        "samples": plan["samples"],
        "clusters": plan["clusters"],
        "cells": plan["cells"],
        "trials": plan["trials"],
        "price": _price(plan),
        "limit": "no limit" if plan["usd_limit"] is None else f"limit {money(plan['usd_limit'])}",
        "detects": _detects(plan),
        "comparisons": plan["comparisons"]["primary"],
        "warnings": [*_warnings(plan), *map(without_folders, plan["warnings"]), *plan["notes"]],
        "servers": plan.get("servers", []),
        "arms": arms,
        "detectable": detectable,
        "margin": plan["margin_text"],
        "notes": [note for note in dict.fromkeys(notes) if note],
        "assumptions": plan["assumptions"],
    }


def _points(effect: float | None) -> str:
    return "none" if effect is None else f"{100 * effect:.1f}"


def _warnings(plan: Mapping[str, Any]) -> list[str]:
    """What to think of before anything is paid."""
    clusters, warnings = plan["clusters"], []
    size = count(clusters, "cluster")
    if plan["never"]:
        more = "Before you pay, take more samples or scenes: they bring more clusters."
        warnings.append(f"{size} only. {plan['never']} {more}")
    elif clusters < FEW_CLUSTERS:
        wide = f"Intervals will be wide; {FEW_CLUSTERS} are better"
        warnings.append(f"{size} only. {wide}: before you pay, take more samples or scenes.")
    if plan["usd"] is None:
        warnings.append("No table has a price for some model: set its `price`, or limit tokens, not dollars.")
    elif plan["usd_limit"] is None and plan["usd"] > 0:
        warnings.append("The cost has no limit: `limits.usd` sets one.")
    elif plan["usd_limit"] is not None and plan["usd"] > plan["usd_limit"]:
        warnings.append("The expected price is above the limit: some trials would not run.")
    return warnings
