"""The client of the REST API: held to the OpenAPI document, and what it does when answers are lost."""

import inspect
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints
from unittest.mock import MagicMock

import httpx
import pytest
from redis import Redis
from starlette.testclient import TestClient
from typing_extensions import is_typeddict

from gnomon.core.errors import Conflict, NotFound, SpecError, Unavailable
from gnomon.core.row import COLUMNS
from gnomon.report.row_formats import row_from_json, row_to_json
from gnomon_service import answers
from gnomon_service.api.app import create_app
from gnomon_service.api.examples import BODIES
from gnomon_service.client import ApiError, AsyncClient, Client, calls, exchange
from gnomon_service.client.exchange import EventReader, base_url, pause_before_again, spec_to_send
from gnomon_service.settings import read_settings
from gnomon_workers.store import records
from gnomon_workers.store.store import Store
from scripts.write_sync_client import FOLDER, made
from tests.service.play import SPEC, finish_all


def every_call() -> dict[str, calls.Call[Any]]:
    """One call of each function that makes one, by the function's name."""
    made_calls = {}
    for name, function in inspect.getmembers(calls, inspect.isfunction):
        if get_origin(get_type_hints(function).get("return")) is calls.Call:
            needed = {
                parameter.name: 2
                if parameter.name == "from_step"
                else {}
                if parameter.name == "args"
                else "x"
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is inspect.Parameter.empty
            }
            made_calls[name] = function(**needed)
    return made_calls


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    app = create_app(read_settings({}), store=MagicMock(), redis=MagicMock())
    return app.openapi()


def test_every_route_has_a_call_and_every_call_a_route(document: dict[str, Any]) -> None:
    routes = {(verb.upper(), path) for path, verbs in document["paths"].items() for verb in verbs}
    called = {(call.verb, call.route) for call in every_call().values()}
    assert routes - called == set(), (
        "service/gnomon_service/client/calls.py and asynchronous.py need a call of each"
    )
    assert called - routes == set()
    assert len(routes) >= 25


@pytest.mark.parametrize("name", list(every_call()))
def test_a_call_sends_what_the_document_describes_and_expects_its_answer(
    name: str, document: dict[str, Any]
) -> None:
    call = every_call()[name]
    route = document["paths"][call.route][call.verb.lower()]
    parameters = {(entry["in"], entry["name"].lower()) for entry in route.get("parameters", ())}
    assert {("path", place) for place in call.places} == {entry for entry in parameters if entry[0] == "path"}
    assert {("query", each) for each in call.query} <= parameters
    assert {("header", each.lower()) for each in call.headers} <= parameters
    assert (call.body is not None) == ("requestBody" in route)
    if isinstance(call.body, dict) and (schema := _schema(route["requestBody"], document))["properties"]:
        assert set(schema.get("required", ())) <= set(call.body) <= set(schema["properties"])
    if call.answer not in (str, bytes):
        assert call.answer == answers.ANSWERS[f"{call.verb} {call.route}"]


def _schema(body: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = body["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def test_all_of_a_routes_query_can_be_sent(document: dict[str, Any]) -> None:
    for call in every_call().values():
        route = document["paths"][call.route][call.verb.lower()]
        named = {entry["name"] for entry in route.get("parameters", ()) if entry["in"] == "query"}
        assert named - set(call.query) <= {"cursor"}, call.route  # of events: it is a header too


def test_the_document_has_the_types_of_the_answers(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name, answer in answers.ANSWERS.items():
        verb, _, path = name.partition(" ")
        responses = document["paths"][path][verb.lower()]["responses"]
        good = next(responses[status] for status in responses if status.startswith("2"))
        schema = good["content"]["application/json"]["schema"]
        if is_typeddict(answer):
            assert schema == {"$ref": f"#/components/schemas/{answer.__name__}"}
            assert set(schemas[answer.__name__]["properties"]) == set(answer.__annotations__)
    assert list(schemas["Row"]["properties"]) == list(COLUMNS)
    assert (
        "type"
        in document["paths"]["/v1/jobs/{job_id}/report"]["get"]["responses"]["200"]["content"][
            "application/json"
        ]["schema"]
    )


def test_the_states_of_answers_are_those_of_the_store() -> None:
    for name in ("JobStatus", "TrialState", "CheckState"):
        assert get_args(getattr(answers, name)) == get_args(getattr(records, name))
    assert set(exchange.ENDED) <= set(get_args(answers.JobStatus))


def test_the_page_of_the_api_lists_the_parts_of_a_spec_and_not_those_of_answers(api: TestClient) -> None:
    page = api.get("/docs").text
    assert "ArmSpec" in page
    assert "PlanCheckView" not in page


def test_the_plain_client_is_made_from_the_other() -> None:
    assert (FOLDER / "synchronous.py").read_text(encoding="utf-8") == made(), (
        "python -m scripts.write_sync_client"
    )
    plain, awaited = (
        {name: inspect.signature(value) for name, value in vars(kind).items() if inspect.isfunction(value)}
        for kind in (Client, AsyncClient)
    )
    awaited = {
        {"aclose": "close", "__aenter__": "__enter__", "__aexit__": "__exit__"}.get(name, name): value
        for name, value in awaited.items()
    }
    assert list(plain) == list(awaited)
    for name, signature in plain.items():
        assert list(signature.parameters) == list(awaited[name].parameters), name


@pytest.fixture
async def client(store: Store, redis: Redis, tmp_path: Path) -> AsyncIterator[AsyncClient]:
    app = create_app(read_settings({}, data_dir=tmp_path), store=store, redis=redis)
    async with AsyncClient("http://127.0.0.1:8000", transport=httpx.ASGITransport(app=app)) as opened:
        yield opened


def _fields(kind: Any, value: Any, where: str = "") -> Iterator[str]:
    """Fields of an answer that its type does not have, and required ones that it lacks."""
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        yield from (f"{where}.{name} is not in {kind.__name__}" for name in set(value) - set(hints))
        yield from (f"{where}.{name} is absent" for name in kind.__required_keys__ - set(value))
        for name, hint in hints.items():
            if name in value:
                yield from _fields(hint, value[name], f"{where}.{name}")
    elif get_origin(kind) is list and get_args(kind):
        for entry in value:
            yield from _fields(get_args(kind)[0], entry, f"{where}[]")


async def test_answers_have_the_fields_of_their_types(client: AsyncClient, store: Store) -> None:
    posted = await client.submit(SPEC)
    finish_all(store, posted["id"])
    job = await client.wait(posted["id"])
    rows = [row async for row in client.rows(job["id"])]
    trial = await client.trial(rows[0].trial_id)
    got = [
        (answers.SubmittedView, posted),
        (answers.JobView, job),
        (answers.JobList, await client.send(calls.list_jobs())),
        (answers.TrialView, trial),
        (list[answers.BenchmarkInfo], await client.benchmarks()),
        (list[answers.ToolInfo], await client.tools()),
        (list[answers.AgentInfo], await client.agents()),
        (list[answers.PresetInfo], await client.presets()),
        (answers.Health, await client.health()),
        (answers.Readiness, await client.readiness()),
        (
            answers.CheckedPlanView,
            await client.check_plan(**BODIES["POST /v1/itineraries/check"]),
        ),
    ]
    assert [fault for kind, value in got for fault in _fields(kind, value)] == []
    assert [row_to_json(row) for row in rows if row.trial_id == trial["trial_id"]] == [trial["row"]]
    assert len(rows) == job["counts"]["scored"] == 12
    assert [found["id"] async for found in client.jobs()] == [job["id"]]
    assert (await client.report(job["id"]))["job"]["id"] == job["id"]
    assert "<html" in await client.report_page(job["id"])
    assert "gnomon_jobs" in await client.metrics()
    assert (await client.seal(job["id"])).startswith("{")
    assert [row.arm async for row in client.rows(job["id"], arm="raw", outcome="scored")] == ["raw"] * 6


async def test_events_come_as_they_are_stored_and_go_on_after_the_last_one(
    client: AsyncClient, store: Store
) -> None:
    job_id = (await client.submit(SPEC))["id"]
    finish_all(store, job_id)
    events = [event async for event in client.events(job_id)]
    trials = [event for event in events if event.name == "trial"]
    assert [event.name for event in events if event.name != "trial"] == ["progress", "done"]
    assert len(trials) == 12
    rest = [event async for event in client.events(job_id, after=trials[8].id) if event.name == "trial"]
    assert [event.id for event in rest] == [event.id for event in trials[9:]]
    assert [event.name async for event in client.events(job_id, only="progress")] == ["progress", "done"]


async def test_refusals_are_the_errors_that_local_code_knows(client: AsyncClient) -> None:
    with pytest.raises(SpecError) as refused:
        await client.submit({**SPEC, "repeats": 0})
    assert isinstance(refused.value, ApiError)
    assert (refused.value.field, refused.value.response_status) == ("repeats", 422)
    assert refused.value.problem_type == "urn:gnomon:problem:not-allowed"
    with pytest.raises(NotFound):
        await client.job("j_none")
    await client.submit(SPEC, idempotency_key="once")
    with pytest.raises(Conflict):
        await client.submit({**SPEC, "repeats": 2}, idempotency_key="once")
    with pytest.raises(SpecError, match=r"'\.\.' is not an id"):
        await client.job("..")
    with pytest.raises(SpecError, match="cannot be written as JSON"):
        await client.submit({**SPEC, "name": float("nan")})


def answering(*replies: httpx.Response | Exception, sent: list[httpx.Request]) -> httpx.MockTransport:
    """A service that gives these replies, one after the other."""
    remaining = iter(replies)

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        answer = next(remaining)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return httpx.MockTransport(reply)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr("gnomon_service.client.synchronous.time.sleep", waited.append)
    return waited


POSTED = {"id": "j_1", "status": "queued", "planned_trials": 1, "estimate": {}, "warnings": []}


def test_a_job_whose_answer_was_lost_is_sent_again_with_the_same_key(pauses: list[float]) -> None:
    sent: list[httpx.Request] = []
    replies = (httpx.ReadError("reset"), httpx.Response(503), httpx.Response(202, json=POSTED))
    with Client("http://127.0.0.1:1", transport=answering(*replies, sent=sent)) as client:
        assert client.submit(SPEC)["id"] == "j_1"
    assert len(pauses) == 2
    assert len({request.headers["Idempotency-Key"] for request in sent}) == 1


def test_a_rate_limit_is_waited_for_as_long_as_it_says(pauses: list[float]) -> None:
    sent: list[httpx.Request] = []
    replies = (httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, json={"status": "ok"}))
    with Client("http://127.0.0.1:1", transport=answering(*replies, sent=sent)) as client:
        assert client.health() == {"status": "ok"}
    assert pauses == [7.0]


def test_what_may_have_been_done_is_not_sent_twice(pauses: list[float]) -> None:
    sent: list[httpx.Request] = []
    with (
        Client("http://127.0.0.1:1", transport=answering(httpx.ReadError("reset"), sent=sent)) as client,
        pytest.raises(Unavailable, match="nothing answers"),
    ):
        client.resume("j_1")
    assert (len(sent), pauses) == (1, [])


def test_a_service_that_stays_away_is_given_up_after_five_tries(pauses: list[float]) -> None:
    sent: list[httpx.Request] = []
    replies = [
        httpx.Response(503, json={"detail": "the store cannot be reached", "title": "Not available"})
    ] * 5
    with (
        Client("http://127.0.0.1:1", transport=answering(*replies, sent=sent)) as client,
        pytest.raises(Unavailable, match="the store cannot be reached"),
    ):
        client.job("j_1")
    assert (len(sent), len(pauses)) == (5, 4)
    assert pauses == sorted(pauses)


def test_a_long_pause_that_is_asked_for_is_left_to_the_caller() -> None:
    call, response = calls.get_job("j_1"), httpx.Response(429, headers={"Retry-After": "3600"})
    assert pause_before_again(call, 1, response) is None


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (httpx.Response(200, text="<html>another server"), "something that is not JSON"),
        (httpx.Response(502, text="<html>proxy"), "the server answered 502"),
        (httpx.Response(302, headers={"Location": "/ui/sign-in"}), "the server answered 302"),
        (httpx.Response(404, json=["not", "a", "problem"]), "the server answered 404"),
        (httpx.Response(422, json={"detail": {"odd": 1}, "field": None, "errors": "odd"}), "odd"),
    ],
)
def test_another_servers_answer_is_told(response: httpx.Response, words: str, pauses: list[float]) -> None:
    transport = httpx.MockTransport(lambda _: response)
    with (
        Client("http://127.0.0.1:1", transport=transport) as client,
        pytest.raises(Exception, match=words) as told,
    ):
        client.job("j_1")
    assert isinstance(told.value, ApiError | SpecError)


def test_a_stream_that_breaks_is_opened_again_after_the_last_row(pauses: list[float]) -> None:
    sent: list[httpx.Request] = []

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b'id: 3\nevent: trial\ndata: {"arm": "raw"}\n\nid: 4\nevent: trial\ndata: {"ar'
            raise httpx.ReadError("reset")

    whole = b": still here\n\nid: 4\nevent: trial\ndata: {}\n\nevent: done\ndata: {}\n\n"
    replies = (httpx.Response(200, stream=Broken()), httpx.Response(200, content=whole))
    with Client("http://127.0.0.1:1", transport=answering(*replies, sent=sent)) as client:
        assert [event.id or event.name for event in client.events("j_1")] == ["3", "4", "done"]
    assert [request.headers.get("Last-Event-ID") for request in sent] == [None, "3"]


def test_an_event_that_is_not_json_is_told() -> None:
    reader = EventReader()
    assert [*reader.feed("event: done"), *reader.feed("data: {")] == []
    with pytest.raises(SpecError, match="not JSON"):
        list(reader.feed(""))


def test_a_key_is_read_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[httpx.Request] = []
    ok = httpx.Response(200, json={"status": "ok"})
    monkeypatch.setenv("MY_KEY", "k-1")
    with Client("http://127.0.0.1:1", api_key_env="MY_KEY", transport=answering(ok, sent=sent)) as client:
        client.health()
    assert sent[0].headers["Authorization"] == "Bearer k-1"
    with pytest.raises(SpecError, match="the variable OTHER_KEY is not set"):
        Client(api_key_env="OTHER_KEY")


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://x", "http://", "http://[::1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match="is not an address"):
        Client(url)


def test_a_path_of_questions_is_made_absolute_for_a_service_here_and_an_upload_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here, upload = base_url("http://127.0.0.1:8000"), f"upload:{'0' * 64}.csv"
    assert spec_to_send({"data": "mine.csv"}, here) == {"data": str(tmp_path / "mine.csv")}
    assert spec_to_send({"data": "mine.csv"}, base_url("http://far.example")) == {"data": "mine.csv"}
    assert spec_to_send({"data": upload}, here) == {"data": upload}


def test_columns_of_a_newer_service_are_left_out_and_older_ones_have_defaults(
    store: Store, api: TestClient
) -> None:
    values = {"job_id": "j", "trial_id": "t", "benchmark": "b", "task": "t", "cell": "c", "sample_id": "s"}
    values |= {"cluster": "s", "model": "m", "arm": "a", "outcome": "infra_missing", "stop_reason": "x"}
    row = row_from_json({**values, "repeat": 0, "score": None, "of_tomorrow": 1})
    assert (row.usd, row.flags, row.tools_offered) == (None, (), None)
    with pytest.raises(ValueError, match="Outcome"):
        row_from_json({**values, "outcome": "odd"})


def test_a_wait_ends_with_its_time(pauses: list[float]) -> None:
    job: dict[str, Any] = {"status": "running", "counts": {"running": 1}}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=job))
    with (
        Client("http://127.0.0.1:1", transport=transport) as client,
        pytest.raises(TimeoutError, match="is running after 0 s"),
    ):
        client.wait("j_1", timeout_s=0)
