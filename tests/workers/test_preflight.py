"""A model that cannot work is found out by one call, before anything is spent on its trials."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.message import ToolCall
from gnomon.core.model import Model, Reply, Request
from gnomon.core.retry import PREFLIGHT_RETRY
from gnomon.core.score import Outcome
from gnomon.fitness.examine import OPENING, Examination
from gnomon.fitness.needs import needs_of_spec, prompts_show_pictures
from gnomon.fitness.pictures import pictures_in
from gnomon.media import MediaStore
from gnomon.spec.rules import opened_samples, parse_spec
from gnomon_workers import preflight
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.budget.usage import Usage
from gnomon_workers.circuit_breaker import MOST_IN_A_ROW, BreakableModel
from gnomon_workers.store import JobRecord, Store
from gnomon_workers.store.records import ModelCheck
from tests.agents.conftest import FakeProvider, serving
from tests.chat_provider import Refusal
from tests.service.endpoints import CallsAsText, Cutting, FitEndpoint, Hanging, ThinksOnly
from tests.workers.conftest import BOTH, Clock, Plant, create, make_row, make_spec
from tests.workers.counting_provider import counting
from tests.workers.tiny_worker import context_of, run_job

KEY = "sk-abcdefghijklmnop"
REFUSED = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
UNKNOWN = {"error": {"message": "The model m does not exist", "code": "model_not_found"}}
TTL_S = 10.0


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    hurried = {**preflight.ask.__kwdefaults__, "retry": PREFLIGHT_RETRY.model_copy(update={"base_s": 0.01})}
    monkeypatch.setattr(preflight.ask, "__kwdefaults__", hurried)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """The first reply queued is that to the preflight, the second that to every trial."""
    with serving() as fake:
        fake.choose = lambda request: 0 if OPENING in json.dumps(request) else 1
        yield fake


@pytest.fixture
def run(real_store: Store, tmp_path: Path) -> Callable[[JobRecord], JobRecord]:
    def run(job: JobRecord) -> JobRecord:
        run_job(job, context_of(real_store, tmp_path))
        return real_store.job(job.id)

    return run


Run = Callable[[JobRecord], JobRecord]


def post(store: Store, *models: dict[str, Any], samples: int = 7, **changes: Any) -> JobRecord:
    return create(store, samples, models=list(models), **{"preflight": True, **changes})


def calls_of(provider: FakeProvider) -> tuple[int, int]:
    """How many preflights and how many trials it was asked."""
    asked = [OPENING in json.dumps(request) for request in provider.requests]
    return sum(asked), len(asked) - sum(asked)


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize(
    ("status", "body", "cause", "words"),
    [
        (401, REFUSED, "auth", "HTTP 401: Incorrect API key provided: [secret]"),
        (404, UNKNOWN, "not_found", "HTTP 404: The model m does not exist"),
        (400, {"error": {"message": "tools are not supported"}}, "bad_request", "tools are not supported"),
        (429, {"error": {"code": "insufficient_quota", "message": "no credit"}}, "quota", "no credit"),
    ],
)
def test_what_a_provider_refuses_for_good_ends_the_job_after_one_call(
    real_store: Store, run: Run, provider: FakeProvider, status: int, body: Any, cause: str, words: str
) -> None:
    provider.answers(status, body)
    job = run(post(real_store, {"id": "openai/m", "api_base": provider.url}))
    assert (job.status, calls_of(provider)) == ("failed", (1, 0))
    assert (job.counts.infra_missing, job.known_tokens, job.usd) == (14, 0, 0.0)
    assert f"openai/m: 14 of 14 trials are missing, provider:{cause}: “" in job.error
    assert words in job.error
    rows = list(real_store.iter_rows(job.id))
    assert {(row.stop_reason, row.attempt) for row in rows} == {(f"provider:{cause}", 0)}
    assert len({row.trial_id for row in rows}) == len(rows) == 14
    assert all(words in row.error for row in rows)
    assert [(check.state, check.calls) for check in job.checks] == [("stopped", 1)]


def test_an_endpoint_that_nobody_listens_at_is_tried_again_and_ends_the_job(
    real_store: Store, run: Run
) -> None:
    base = f"http://127.0.0.1:{closed_port()}/v1"
    job = run(post(real_store, {"id": "openai/m", "api_base": base}))
    assert (job.status, job.counts.infra_missing) == ("failed", 14)
    assert "provider:connection" in job.error
    assert "Check `api_base`" in job.error
    assert job.checks[0].calls == 3


def test_a_key_variable_that_is_not_set_ends_the_job_without_a_call(
    real_store: Store, run: Run, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    model = {"id": "openai/m", "api_base": provider.url, "api_key_env": "A_KEY"}
    job = run(post(real_store, model))
    assert (job.status, provider.requests) == ("failed", [])
    assert "the environment variable A_KEY is not set" in job.error


@pytest.mark.parametrize(
    ("status", "body", "state", "calls"),
    [
        (500, "boom", "unconfirmed", 3),
        (200, "<html>", "unconfirmed", 3),
        (200, {"choices": [{"message": {"content": "", "refusal": "no"}}]}, "passed", 1),
    ],
)
def test_whatever_else_a_preflight_meets_the_job_goes_on(
    real_store: Store, run: Run, provider: FakeProvider, status: int, body: Any, state: str, calls: int
) -> None:
    provider.answers(status, body)
    provider.says("A")
    job = run(post(real_store, {"id": "openai/m", "api_base": provider.url}))
    assert (job.status, job.counts.scored) == ("completed", 14)
    assert calls_of(provider) == (calls, 14)
    assert job.checks[0].state == state


def test_of_two_models_the_one_that_is_refused_costs_nothing_and_the_other_runs(
    real_store: Store, run: Run, provider: FakeProvider
) -> None:
    provider.answers(401, REFUSED)
    provider.says("A")
    provider.choose = lambda request: 0 if request["model"] == "bad" else 1
    models = [{"id": f"openai/{name}", "api_base": provider.url} for name in ("bad", "good")]
    job = run(post(real_store, *models))
    rows = list(real_store.iter_rows(job.id))
    assert job.status == "completed"
    assert [request["model"] for request in provider.requests].count("bad") == 1
    assert {row.outcome.value for row in rows if row.model == "openai/good"} == {"scored"}
    assert {row.stop_reason for row in rows if row.model == "openai/bad"} == {"provider:auth"}
    assert len(rows) == job.counts.planned == 28


def test_a_preflight_is_paid_and_shown_and_not_made_again(
    real_store: Store, run: Run, provider: FakeProvider
) -> None:
    provider.says("OK")
    provider.says("A")
    model = {"id": "openai/m", "api_base": provider.url, "price": {"input": 1000, "output": 1000}}
    job = run(post(real_store, model, limits={"tokens": 100_000}))
    assert job.shards > 1
    assert calls_of(provider) == (1, 14)
    assert job.known_tokens == 15 * 18
    assert job.known_usd == pytest.approx(15 * 0.018)
    assert [(check.state, check.calls, check.tokens) for check in job.checks] == [("passed", 1, 18)]
    assert job.checks[0].usd == pytest.approx(0.018)


def test_the_cheap_call_teaches_nothing_of_what_trials_cost(
    real_store: Store, run: Run, provider: FakeProvider
) -> None:
    provider.says("OK", usage={"prompt_tokens": 1, "completion_tokens": 1})
    provider.says("A", usage={"prompt_tokens": 300, "completion_tokens": 100})
    model = {"id": "openai/m", "api_base": provider.url}
    job = run(post(real_store, model, limits={"tokens": 2_000}))
    assert job.known_tokens <= 2_000
    assert job.counts.scored >= 2


def test_a_resumed_job_asks_again(real_store: Store, run: Run, provider: FakeProvider) -> None:
    provider.answers(401, REFUSED)
    provider.says("A")
    job = run(post(real_store, {"id": "openai/m", "api_base": provider.url}))
    assert job.status == "failed"
    provider.choose = lambda _: 1
    again = run(real_store.resume(job.id))
    assert (again.status, again.error, again.counts.scored) == ("completed", "", 14)
    assert [(check.state, check.error, check.calls) for check in again.checks] == [("passed", "", 2)]


@pytest.mark.parametrize(
    ("models", "changes"),
    [
        ([{"id": "scripted", "options": {"replies": ["A"]}}], {}),
        ([{"id": "openai/m"}], {"preflight": False}),
    ],
)
def test_there_is_none_where_nobody_is_called_or_none_is_wanted(
    real_store: Store, run: Run, provider: FakeProvider, models: list[dict[str, Any]], changes: dict[str, Any]
) -> None:
    provider.answers(401, REFUSED)
    provider.says("A")
    models = [model if model["id"] == "scripted" else {**model, "api_base": provider.url} for model in models]
    job = run(post(real_store, *models, **changes))
    assert (job.status, job.counts.scored, job.checks) == ("completed", 14, ())
    assert calls_of(provider)[0] == 0


@pytest.mark.parametrize(
    ("agent", "tools", "offered"), [("react", "all", 1), ("text-react", "all", 0), ("direct", "none", 0)]
)
async def test_a_tool_is_offered_where_an_arm_sends_schemas(agent: str, tools: str, offered: int) -> None:
    arms = [{"name": "raw", "agent": "direct"}, {"name": "other", "agent": agent, "tools": tools}]
    decoding = {"all": {"temperature": 0.5, "max_tokens": 900}}
    spec = make_spec(arms=arms, decoding=decoding)
    says = Says(None)
    await Examination(says.reply, needs_of_spec(spec, spec.models[0])).briefly()
    [request] = says.requests
    assert len(request.tools) == offered
    assert request.decoding.known() == {"temperature": 0.5, "max_tokens": 900}, "as trials are drawn"


def test_two_worker_processes_and_many_shards_make_one_call(idle: Plant) -> None:
    with counting(delay_s=0.05) as provider:
        job = idle.post(40, models=[{"id": "openai/m", "api_base": provider.url}], preflight=True)
        assert idle.end_of(job).counts.scored == 80
    assert len(provider.came_s) == 81


def test_a_cancelled_job_waits_for_no_preflight(real_store: Store, run: Run, provider: FakeProvider) -> None:
    provider.hangs()
    job = post(real_store, {"id": "openai/m", "api_base": provider.url})

    def cancel() -> None:
        while not provider.requests:
            time.sleep(0.05)
        real_store.cancel(job.id)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    assert run(job).status == "cancelled"
    canceller.join()
    assert [(check.state, check.calls) for check in real_store.job(job.id).checks] == [("pending", 1)]


async def test_a_provider_that_asks_for_a_long_wait_is_not_asked_again() -> None:
    fault = ProviderFault("10 a day", cause="rate_limit", retry_after_s=3600.0)
    found = await preflight.ask(Says(fault), Request(messages=[], tools=[]))
    assert (found.state, found.calls, found.cause) == ("unconfirmed", 1, "rate_limit")
    assert found.error == "10 a day"


def test_a_wait_is_known_until_it_is_over_and_as_it_was_when_the_job_ended(
    store: Store, clock: Clock
) -> None:
    job = post(store, {"id": "openai/m"})
    store.note_wait(job.id, "openai/m", error="HTTP 429: 10 a day", wait_s=60.0)
    [check] = store.job(job.id).checks
    assert (check.waits_for, check.waits_until is not None) == ("HTTP 429: 10 a day", True)
    clock.now_s += 61.0
    assert store.job(job.id).checks[0].waits_until is None
    store.note_wait(job.id, "openai/m", error="again", wait_s=60.0)
    store.cancel(job.id)
    clock.now_s += 61.0
    assert store.job(job.id).checks[0].waits_for == "again"
    assert store.resume(job.id).checks[0].waits_until is None


def test_a_key_that_is_revoked_midway_stops_the_model(
    real_store: Store, run: Run, provider: FakeProvider
) -> None:
    provider.says("A")
    provider.answers(401, REFUSED)
    provider.choose = lambda _: 0 if len(provider.requests) <= 10 else 1
    job = run(
        post(
            real_store, {"id": "openai/m", "api_base": provider.url}, samples=100, concurrency=2, cache=False
        )
    )
    assert (job.status, job.counts.planned) == ("failed", 200)
    assert 5 <= job.counts.scored <= 10
    assert job.counts.scored + job.counts.infra_missing == 200
    assert len(provider.requests) <= 10 + MOST_IN_A_ROW + 2
    assert "of 200 trials are missing, provider:auth" in job.error
    rows = list(real_store.iter_rows(job.id))
    assert len({row.trial_id for row in rows}) == len(rows) == 200


class Says(Model):
    """A model that does what it is told, call by call."""

    id = "openai/says"

    def __init__(self, *ends: Exception | None) -> None:
        self.ends, self.calls = list(ends), 0
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        self.requests.append(request)
        end = self.ends.pop(0)
        if end is not None:
            raise end
        return Reply(text="A")

    async def close(self) -> None:
        pass


class BreaksAfterACall(Model):
    """A model that calls a tool, and breaks over what comes back."""

    id = "openai/m"

    async def reply(self, request: Request) -> Reply:
        if len(request.messages) > 1:
            raise RuntimeError("broken")
        name = request.tools[0]["function"]["name"]
        call: ToolCall = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return Reply(text="", tool_calls=(call,), prompt_tokens=9, completion_tokens=2, usd=0.5)

    async def close(self) -> None:
        pass


async def test_what_was_spent_before_a_model_broke_is_counted(real_store: Store) -> None:
    arms = [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}]
    job = create(real_store, 1, models=[{"id": "openai/m"}], arms=arms, preflight=True)
    budget = BudgetClient(job.id, job.spec, store=real_store, holder="h", ttl_s=9.0)
    await preflight.Preflight(
        job.id,
        job.spec,
        {"openai/m": BreaksAfterACall()},
        store=real_store,
        holder="h",
        ttl_s=9.0,
        budget=budget,
        is_wanted=lambda: True,
    ).run()
    [check] = real_store.job(job.id).checks
    assert (check.state, check.cause, check.error) == ("unconfirmed", "RuntimeError", "broken")
    assert (check.calls, check.usd, check.tokens) == (2, 0.5, 11)


class Sees:
    """Names the colours of a picture, or refuses every picture."""

    id = "openai/m"

    def __init__(self, *, is_blind: bool) -> None:
        self.is_blind = is_blind

    async def reply(self, request: Request) -> Reply:
        has_picture = isinstance(request.messages[-1]["content"], list)
        if has_picture and self.is_blind:
            raise ProviderFault("no pictures here", cause="bad_request", transient=False)
        return Reply(text="Red, then blue." if has_picture else "OK")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(("is_blind", "state"), [(False, "fit"), (True, "unfit")])
async def test_a_picture_is_tried_where_prompts_show_some_and_stops_nothing(
    real_store: Store, tmp_path: Path, is_blind: bool, state: str
) -> None:
    job = create(real_store, 1, models=[{"id": "openai/m"}], preflight=True)
    await preflight.Preflight(
        job.id,
        job.spec,
        {"openai/m": Sees(is_blind=is_blind)},
        store=real_store,
        holder="h",
        ttl_s=9.0,
        budget=BudgetClient(job.id, job.spec, store=real_store, holder="h", ttl_s=9.0),
        is_wanted=lambda: True,
        pictures_for=lambda _: pictures_in(MediaStore(tmp_path)),
    ).run()
    [check] = real_store.job(job.id).checks
    assert (check.state, check.calls) == ("passed", 2)
    assert check.fitness is not None
    [found] = [row["state"] for row in check.fitness["findings"] if row["check"] == "picture"]
    assert found == state


@pytest.mark.parametrize(
    ("show", "takes", "tries"), [(["media", "map"], True, True), ([], True, False), (["map"], False, False)]
)
def test_pictures_are_tried_where_an_arm_shows_some_to_a_model_that_takes_them(
    tmp_path: Path, show: list[str], takes: bool, tries: bool
) -> None:
    arms = [{"name": "raw", "agent": "direct", "show": show}]
    models = [{"id": "openai/m", "pictures": takes}]
    spec = parse_spec(
        {"benchmark": "worlds", "select": {"limit": 1}, "models": models, "arms": arms}, agents=("direct",)
    )
    samples = opened_samples(spec, MediaStore(tmp_path))
    assert prompts_show_pictures(spec, spec.models[0], samples) == tries


AUTH = ProviderFault("no", cause="auth", transient=False)
BUSY = ProviderFault("busy", cause="rate_limit")
ODD = ProviderFault("odd", cause="bad_request", transient=False)


@pytest.mark.parametrize(
    ("ends", "is_open"),
    [
        ([AUTH] * MOST_IN_A_ROW, True),
        ([AUTH, AUTH, BUSY, AUTH, AUTH, AUTH], True),
        ([AUTH] * (MOST_IN_A_ROW - 1) + [None] + [AUTH] * (MOST_IN_A_ROW - 1), False),
        ([AUTH] * (MOST_IN_A_ROW - 1) + [ModelFault("no", cause="refused"), AUTH], False),
        ([AUTH] * (MOST_IN_A_ROW - 1) + [ODD, AUTH], False),
        ([BUSY] * 20, False),
    ],
)
async def test_a_breaker_opens_after_final_faults_in_a_row(
    ends: list[Exception | None], is_open: bool
) -> None:
    told: list[ProviderFault] = []

    async def trip(fault: ProviderFault) -> None:
        told.append(fault)

    says = Says(*ends, None)
    model = BreakableModel(says, trip=trip)
    request = Request(messages=[], tools=[])
    for end in ends:
        if end is None:
            await model.reply(request)
        else:
            with pytest.raises(type(end)):
                await model.reply(request)
    assert told == ([AUTH] if is_open else [])
    if is_open:
        with pytest.raises(ProviderFault, match="no"):
            await model.reply(request)
        assert says.calls == len(ends), "nobody was called"


ARMS_WITH_TOOLS = [
    {"name": "raw", "agent": "direct"},
    {"name": "tools", "agent": "react", "tools": ["bearing", "distance"]},
]


def test_with_tools_a_preflight_is_a_call_of_one_and_its_result_back(real_store: Store, run: Run) -> None:
    with FitEndpoint() as endpoint:
        job = run(
            post(real_store, {"id": "openai/m", "api_base": endpoint.url}, arms=ARMS_WITH_TOOLS, samples=1)
        )
    asked = [request for request in endpoint.requests if OPENING in json.dumps(request)]
    assert [[tool["function"]["name"] for tool in request["tools"]] for request in asked] == [["bearing"]] * 2
    assert [message["role"] for message in asked[1]["messages"]] == ["user", "assistant", "tool"]
    [check] = job.checks
    assert (check.state, check.calls, check.tokens) == ("passed", 2, 24)
    assert check.fitness is not None
    assert (check.fitness["fit"], check.fitness["native_tools"]) == (True, "fit")
    assert {row["check"] for row in check.fitness["findings"]} >= {"answers", "tool_call", "tool_result"}


@pytest.mark.parametrize(
    ("kind", "arms", "fault"),
    [
        (CallsAsText, ARMS_WITH_TOOLS, "tool_call"),
        (ThinksOnly, ARMS_WITH_TOOLS, "tool_result"),
        (Cutting, ARMS_WITH_TOOLS[:1], "answer_form"),
    ],
)
def test_what_is_merely_unfit_is_told_and_stops_nothing(
    real_store: Store, run: Run, kind: type[FitEndpoint], arms: list[dict[str, Any]], fault: str
) -> None:
    with kind() as endpoint:
        job = run(post(real_store, {"id": "openai/m", "api_base": endpoint.url}, arms=arms, samples=1))
    assert (job.status, job.counts.infra_missing) == ("completed", 0)
    [check] = job.checks
    assert check.state == "passed"
    assert check.fitness is not None
    assert fault in check.fitness["sentence"]


def test_a_result_that_is_refused_is_told_and_stops_nothing(real_store: Store, run: Run) -> None:
    class RefusesResults(FitEndpoint):
        def reply(self, request: dict[str, Any]) -> dict[str, Any]:
            if request["messages"][-1]["role"] == "tool":
                raise Refusal(400, "unexpected role tool")
            return super().reply(request)

    with RefusesResults() as endpoint:
        job = run(
            post(real_store, {"id": "openai/m", "api_base": endpoint.url}, arms=ARMS_WITH_TOOLS, samples=1)
        )
    [check] = job.checks
    assert (check.state, check.calls) == ("passed", 2)
    assert check.fitness is not None
    assert "tool_result" in check.fitness["sentence"]
    assert job.counts.scored + job.counts.model_failed > 0


def test_an_endpoint_that_hangs_is_asked_once_for_as_long_as_a_call_may_take(
    real_store: Store, run: Run
) -> None:
    with Hanging() as endpoint:
        model = {"id": "openai/m", "api_base": endpoint.url, "call_seconds": 1}
        job = post(real_store, model, retry={"max_attempts": 1}, samples=1)
        [check] = run(job).checks
    assert (check.state, check.calls, check.cause, check.error) == (
        "unconfirmed",
        1,
        "timeout",
        "no reply within 1 s",
    )


def test_how_an_endpoint_calls_that_was_never_heard_is_not_known(real_store: Store, run: Run) -> None:
    with Hanging() as endpoint:
        model = {"id": "openai/m", "api_base": endpoint.url, "call_seconds": 1}
        job = post(real_store, model, arms=ARMS_WITH_TOOLS, retry={"max_attempts": 1}, samples=1)
        [check] = run(job).checks
    assert check.fitness is not None
    states = {row["check"]: row["state"] for row in check.fitness["findings"]}
    assert (states["answers"], states["tool_call"]) == ("unfit", "unknown")
    assert "model_version" not in states
    assert (
        "is not fit (answers); whether it is fit for native tools is not known" in check.fitness["sentence"]
    )


@BOTH
def test_what_a_preflight_waits_for_is_in_the_job_and_named_once_it_is_slow(
    store: Store, clock: Clock
) -> None:
    job = create(store)

    def waits(seconds: float) -> ModelCheck:
        store.begin_check(job.id, "m", holder="a", ttl_s=TTL_S, asks_for="first reply", asks_s=seconds)
        clock.now_s += 1.0
        return store.job(job.id).checks[0]

    assert waits(0.0).waiting == ""
    early = waits(5.0)
    assert (early.asks_for, early.asks_s, early.cause) == ("first reply", 6.0, "")
    assert early.waiting == "waiting for m: first reply, 6 s"
    late = waits(39.0)
    assert (late.cause, late.error) == ("slow", "no reply yet: first reply, 40 s")
    assert late.waiting == "waiting for m: first reply, 40 s, no reply yet"
    store.end_check(job.id, "m", holder="a", state="passed", calls=1, spent=Usage(0.5, 7))
    ended = store.job(job.id).checks[0]
    assert (ended.waiting, ended.asks_for, ended.asks_s, ended.cause) == ("", "", None, "")


def two_models(store: Store) -> JobRecord:
    models = [{"id": "scripted-a"}, {"id": "scripted-b"}]
    return create(store, 3, models=models)


@BOTH
def test_one_process_checks_a_model_and_takes_over_from_one_that_is_silent(
    store: Store, clock: Clock
) -> None:
    job = create(store)

    def begin(holder: str) -> tuple[str, bool]:
        check, is_mine = store.begin_check(job.id, "m", holder=holder, ttl_s=TTL_S)
        return check.state, is_mine

    assert [begin(holder) for holder in ("a", "b", "a")] == [
        ("checking", True),
        ("checking", False),
        ("checking", True),
    ]
    clock.now_s += TTL_S + 1
    assert begin("b") == ("checking", True)
    assert begin("a") == ("checking", False)
    passed: dict[str, Any] = {"state": "passed", "calls": 1, "spent": Usage(0.5, 7)}
    store.end_check(job.id, "m", holder="a", **passed | {"state": "unconfirmed"})
    assert begin("a") == ("checking", False), "it was too slow, but its call has been made"
    for _ in range(2):  # as if the answer to the first had been lost
        store.end_check(job.id, "m", holder="b", **passed)
    assert begin("a") == ("passed", False)
    found = store.job(job.id)
    assert (found.usd, found.tokens) == (1.0, 14)
    assert (found.checks[0].usd, found.checks[0].tokens, found.checks[0].calls) == (1.0, 14, 2)


@BOTH
def test_a_job_fails_once_no_model_is_left_and_keeps_what_is_in_flight(store: Store) -> None:
    job = two_models(store)
    leases = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, limit=2)
    for name in ("scripted-a", "scripted-b", "scripted-a"):
        store.stop_model(job.id, name, cause="auth", error=f"{name} has no key")
    assert store.job(job.id).status == "running", "what is in flight may end"
    store.finish([(lease, make_row(lease), {"prompt": [], "steps": []}) for lease in leases])
    ended = store.job(job.id)
    assert (ended.status, ended.counts.scored) == ("failed", 2)
    for name in ("scripted-a", "scripted-b"):
        assert f"{name}: " in ended.error
        assert f"“{name} has no key”" in ended.error
    assert len(list(store.iter_rows(job.id))) == ended.counts.planned


@BOTH
def test_a_model_that_is_stopped_leaves_the_others_their_trials(store: Store) -> None:
    job = two_models(store)
    store.stop_model(job.id, "scripted-a", cause="quota", error="no credit")
    assert store.job(job.id).counts.infra_missing == job.counts.planned // 2
    for shard in range(job.shards):
        leases = store.lease(job.id, shard, worker="w", ttl_s=TTL_S)
        assert {lease.trial.model for lease in leases} <= {"scripted-b"}
        store.finish([(lease, make_row(lease), {"prompt": [], "steps": []}) for lease in leases])
    assert (store.job(job.id).status, store.job(job.id).error) == ("completed", "")


def test_a_job_of_which_every_trial_is_missing_has_failed(store: Store) -> None:
    job = create(store, 2)
    for shard in range(job.shards):
        leases = store.lease(job.id, shard, worker="w", ttl_s=TTL_S)
        lost = {
            "outcome": Outcome.INFRA_MISSING,
            "stop_reason": "provider:timeout",
            "score": None,
            "error": "slow",
        }
        rows = [make_row(lease, **lost) for lease in leases]
        store.finish(
            [(lease, row, {"prompt": [], "steps": []}) for lease, row in zip(leases, rows, strict=True)]
        )
    ended = store.job(job.id)
    assert ended.status == "failed"
    assert ended.error.startswith("scripted: 4 of 4 trials are missing, provider:timeout: “slow”.")
