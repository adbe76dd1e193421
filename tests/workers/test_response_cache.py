"""The response cache: what was said once is not paid twice, and what must be drawn anew is."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.decoding import Decoding
from gnomon.core.message import Message, ProviderTurn
from gnomon.core.model import Reply, Request
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.trial_plan import Trial
from gnomon_workers.response_cache import (
    KEPT_BATCHES,
    LEAST_SCOPES,
    CachedModel,
    ResponseCache,
    fingerprint,
    scope_of,
)
from gnomon_workers.shard import WorkerContext, run_shard
from gnomon_workers.store import Lease, Store
from gnomon_workers.store.responses import CachedResponse
from tests.agents.conftest import FakeProvider, provider
from tests.workers.conftest import BOTH, Clock, create
from tests.workers.tiny_worker import context_of

__all__ = ["provider"]  # a fixture

ASK: list[Message] = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "t", "description": "d", "parameters": {}}}


class Counting:
    """A model that says a number that grows with each call."""

    id = "counting"

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        return Reply(text=str(self.calls), prompt_tokens=3, completion_tokens=1, usd=0.5)

    async def close(self) -> None:
        return


def cached(store: Store, model: Counting, **spec: Any) -> CachedModel:
    mark = fingerprint(ModelSpec(**{"id": "openai/m", **spec}))
    return CachedModel(model, ResponseCache(store, {"m": mark}), mark)


async def test_equal_requests_have_one_reply_marked_as_cached(store: Store) -> None:
    model = Counting()
    asked = cached(store, model)
    first, second = [await asked.reply(Request(messages=ASK, tools=[TOOL], seed=1)) for _ in range(2)]
    assert (first.text, first.cached, second.text, second.cached) == ("1", False, "1", True)
    assert (second.prompt_tokens, second.usd) == (3, 0.5)


@BOTH
async def test_a_reply_that_cannot_be_kept_takes_no_other_along(store: Store) -> None:
    asked = cached(store, Counting())
    async with asked._cache.keeping(60):
        asked._cache.put(b"scope", b"one", Reply(text="kept"))
        asked._cache.put(b"scope", b"two", Reply(text=object()))  # type: ignore[arg-type]
        asked._cache._new[b"three"] = CachedResponse(b"three", b"scope", "\ud800")
    assert store.responses([b"scope"]).keys() == {b"scope"}
    assert store.responses([b"scope"])[b"scope"].keys() == {b"one"}


def leases(count: int, *, begin: int) -> list[Lease]:
    """Of trials of the model `m`, each of a sample of its own."""
    refs = (ref_of(f"s{number}") for number in range(begin, begin + count))
    trials = (
        Trial(trial_id=ref.sample_id, job_id="j", ref=ref, model="m", arm="a", repeat=0) for ref in refs
    )
    return [Lease(trial=one, attempt=1, token=1) for one in trials]


def ref_of(sample_id: str) -> SampleRef:
    return SampleRef(sample_id=sample_id, task="Q", cell="Q", cluster=sample_id)


async def test_a_reply_that_is_written_lies_in_the_store_alone_and_is_found_again(store: Store) -> None:
    model = Counting()
    asked = cached(store, model)
    request = Request(messages=ASK, tools=[TOOL], seed=1)
    async with asked._cache.keeping(60):
        await asked.reply(request)
        assert _bodies(asked) == 1
    assert _bodies(asked) == 0
    again = await asked.reply(request)
    assert (again.text, again.cached, model.calls) == ("1", True, 1)


async def test_what_is_known_does_not_grow_with_the_trials_that_were_run(store: Store) -> None:
    asked = cached(store, Counting())
    for begin in range(0, 3_000, 30):
        batch = leases(30, begin=begin)
        asked._cache.prefetch(batch)
        async with asked._cache.keeping(60):
            for lease in batch:
                await asked.reply(Request(messages=ASK, tools=[], seed=lease.trial.seed))
    assert len(asked._cache._scopes) == KEPT_BATCHES * 30
    assert _bodies(asked) == 0


def _bodies(asked: CachedModel) -> int:
    bodies = [body for known in asked._cache._scopes.values() for body in known.values()]
    return len(asked._cache._new) + sum(body is not None for body in bodies)


class Slow(Counting):
    """While it is asked, as many leases are handed out as make a cache forget all older ones."""

    cache: ResponseCache

    async def reply(self, request: Request) -> Reply:
        for batch in range(KEPT_BATCHES):
            begin = (self.calls * KEPT_BATCHES + batch) * LEAST_SCOPES
            self.cache.prefetch(leases(LEAST_SCOPES, begin=begin))
        return await super().reply(request)


async def test_a_scope_that_is_forgotten_while_a_model_is_asked_hides_no_reply(store: Store) -> None:
    model = Slow()
    asked = cached(store, model)
    model.cache = asked._cache
    one, other = (Request(messages=[{"role": "user", "content": say}], tools=[], seed=1) for say in "ab")
    async with asked._cache.keeping(60):
        await asked.reply(one)
    await asked.reply(other)
    assert [(await asked.reply(again)).text for again in (one, other)] == ["1", "2"]
    assert model.calls == 2


async def test_a_reply_is_found_while_it_is_written_whatever_is_known(store: Store) -> None:
    asked = cached(store, Counting())
    request = Request(messages=ASK, tools=[], seed=1)
    await asked.reply(request)
    asked._cache._scopes.clear()
    assert (await asked.reply(request)).cached
    asked._cache._scopes.clear()
    async with asked._cache.keeping(60):
        pass
    assert (await asked.reply(request)).cached


def test_what_was_leased_again_is_forgotten_last(store: Store) -> None:
    cache = cached(store, Counting())._cache
    for begin in range(LEAST_SCOPES):
        cache.prefetch(leases(1, begin=begin))
    oldest, second = list(cache._scopes)[:2]
    cache.prefetch(leases(1, begin=0))
    cache.prefetch(leases(1, begin=LEAST_SCOPES))
    assert oldest in cache._scopes
    assert second not in cache._scopes


PICTURE = {"type": "image", "sha256": "0" * 64, "media_type": "image/png"}
OTHER_TOOL = {"type": "function", "function": {"name": "t", "description": "other", "parameters": {}}}


@pytest.mark.parametrize(
    ("spec", "request_"),
    [
        ({"id": "openai/n"}, {}),
        ({"api_base": "http://127.0.0.1:1/v1"}, {}),
        ({"temperature": 0.5}, {}),
        ({"max_tokens": 5}, {}),
        ({"pictures": False}, {}),
        ({"options": {"top_p": 0.5}}, {}),
        ({"api": "responses"}, {}),
        ({}, {"messages": [{"role": "user", "content": "hi!"}]}),
        ({}, {"messages": [{"role": "user", "content": [PICTURE]}]}),
        ({}, {"tools": []}),
        ({}, {"tools": [OTHER_TOOL]}),
        ({}, {"tool_choice": "none"}),
        ({}, {"decoding": Decoding(temperature=0)}),
        ({}, {"seed": 2}),  # another repeat, or another sample
    ],
)
async def test_whatever_differs_is_asked_anew(store: Store, spec: Any, request_: Any) -> None:
    model = Counting()
    request: dict[str, Any] = {"messages": ASK, "tools": [TOOL], "seed": 1}
    await cached(store, model).reply(Request(**request))
    reply = await cached(store, model, **spec).reply(Request(**{**request, **request_}))
    assert (reply.text, reply.cached) == ("2", False)


@pytest.mark.parametrize(
    "change", [{"name": "b"}, {"price": {"input": 1, "output": 1}}, {"api_key_env": "K"}]
)
def test_what_does_not_reach_the_model_does_not_count(change: dict[str, Any]) -> None:
    assert fingerprint(ModelSpec(id="openai/m", **change)) == fingerprint(ModelSpec(id="openai/m"))


@BOTH
def test_replies_are_kept_by_scope_the_first_stays_and_old_ones_are_forgotten(
    store: Store, clock: Clock
) -> None:
    store.insert_responses(
        [
            CachedResponse(b"k1", b"s1", "1"),
            CachedResponse(b"k2", b"s1", "2"),
            CachedResponse(b"k3", b"s2", "3"),
        ]
    )
    clock.now_s += 100
    store.insert_responses([CachedResponse(b"k1", b"s1", "other"), CachedResponse(b"k4", b"s2", "4")])
    assert store.responses([b"s1", b"s2", b"s3"]) == {
        b"s1": {b"k1": "1", b"k2": "2"},
        b"s2": {b"k3": "3", b"k4": "4"},
        b"s3": {},
    }
    assert store.expire_responses(older_than_s=50) == 3
    assert store.responses([b"s1", b"s2"]) == {b"s1": {}, b"s2": {b"k4": "4"}}


# Jobs, whole

CALL = {"id": "x", "type": "function", "function": {"name": "nosuch", "arguments": "{}"}}


@pytest.fixture
def context(real_store: Store, tmp_path: Path) -> WorkerContext:
    return context_of(real_store, tmp_path)


def run(
    context: WorkerContext, provider: FakeProvider, job_id: str | None = None, **changes: Any
) -> list[Row]:
    """Run a job of one ReAct trial a repeat, new or resumed; its rows."""
    given: dict[str, Any] = {
        "models": [{"id": "openai/m", "api_base": provider.url, "price": {"input": 1, "output": 1}}],
        "arms": [{"name": "a", "agent": "react"}],
        "concurrency": 1,
        **changes,
    }
    job = context.store.resume(job_id) if job_id else create(context.store, 1, **given)
    for shard in range(job.shards):
        run_shard(job.id, shard, context=context)
    return list(context.store.iter_rows(job.id))


def calls_then_answers(provider: FakeProvider) -> None:
    provider.says({"role": "assistant", "content": None, "tool_calls": [CALL]}, finish_reason="tool_calls")
    provider.says("A")


def test_a_resumed_job_pays_only_for_what_it_had_not_heard(
    context: WorkerContext, provider: FakeProvider
) -> None:
    provider.says({"role": "assistant", "content": None, "tool_calls": [CALL]}, finish_reason="tool_calls")
    provider.answers(401, {"error": {"message": "not now"}})
    [row] = run(context, provider)
    assert (row.outcome, row.model_calls, len(provider.requests)) == ("infra_missing", 1, 2)
    provider.says("A")
    [again] = run(context, provider, row.job_id)
    assert (again.outcome, again.score, again.model_calls, again.cache_hits) == ("scored", 1.0, 2, 1)
    assert len(provider.requests) == 3
    assert again.usd == pytest.approx(18e-6)  # of the second call alone


def test_the_same_job_again_costs_nothing(context: WorkerContext, provider: FakeProvider) -> None:
    calls_then_answers(provider)
    [first] = run(context, provider)
    [second] = run(context, provider)
    assert len(provider.requests) == 2
    assert (second.score, second.cache_hits, second.usd) == (first.score, 2, 0.0)
    assert second.prompt_tokens == first.prompt_tokens
    assert [context.store.job(row.job_id).tokens for row in (first, second)] == [36, 0]


def test_repeats_are_drawn_anew(context: WorkerContext, provider: FakeProvider) -> None:
    provider.says("A")
    rows = run(context, provider, repeats=3)
    assert [row.cache_hits for row in rows] == [0, 0, 0]
    assert len(provider.requests) == 3


def test_a_spec_may_ask_for_replies_of_its_own(context: WorkerContext, provider: FakeProvider) -> None:
    provider.says("A")
    run(context, provider)
    [row] = run(context, provider, cache=False)
    assert (row.cache_hits, len(provider.requests)) == (0, 2)


class Thinking(Counting):
    """A model that says what it thought, and wants it back."""

    async def reply(self, request: Request) -> Reply:
        turn: ProviderTurn = {"dialect": "chat", "body": {"reasoning_content": "hm"}}
        return Reply(
            text="A",
            reasoning="hm",
            reasoning_tokens=5,
            cached_tokens=2,
            provider_turn=turn,
            request_changes=("seed: 1 → absent",),
        )


async def test_a_kept_reply_has_its_reasoning_and_its_providers_turn(store: Store) -> None:
    asked = cached(store, Thinking())
    request = Request(messages=ASK, tools=[], seed=1)
    async with asked._cache.keeping(60):
        first = await asked.reply(request)
    again = await asked.reply(request)
    assert again == replace(first, cached=True)
    assert again.message()["provider_turn"] == {"dialect": "chat", "body": {"reasoning_content": "hm"}}


async def test_another_turn_of_the_provider_is_another_conversation(store: Store) -> None:
    model = Counting()
    asked = cached(store, model)
    bare: Message = {"role": "assistant", "content": "A"}
    thought: Message = {**bare, "provider_turn": {"dialect": "chat", "body": {"reasoning": "hm"}}}
    for turn in (bare, thought, bare):
        await asked.reply(Request(messages=[*ASK, turn, *ASK], tools=[], seed=1))
    assert model.calls == 2


def test_how_a_conversation_reaches_the_model_is_part_of_its_fingerprint() -> None:
    plain = fingerprint(ModelSpec(id="openai/m"))
    assert plain == fingerprint(ModelSpec(id="openai/m", name="mine", prompt_cache="off", api_key_env="K"))
    others = [{"client": "litellm"}, {"reasoning_history": "none"}, {"temperature": 0}]
    assert len({plain, *(fingerprint(ModelSpec(id="openai/m", **one)) for one in others)}) == 4


def test_replies_that_were_kept_without_their_turns_are_not_found() -> None:
    said = ["openai/m", None, 0.5, None, True, {"top_p": 1}]
    before = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).digest()[:16]
    assert fingerprint(ModelSpec(id="openai/m", temperature=0.5, options={"top_p": 1})) != before


def test_every_fingerprint_holds_the_format_of_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [ModelSpec(id="openai/m"), ModelSpec(id="anthropic/claude", temperature=1)]
    before = [fingerprint(spec) for spec in specs]
    monkeypatch.setattr("gnomon_workers.response_cache.FORMAT", 1)
    assert not {*before} & {fingerprint(spec) for spec in specs}


async def test_a_reply_that_was_kept_with_fewer_fields_is_read(store: Store) -> None:
    model = Counting()
    asked = cached(store, model)
    request = Request(messages=ASK, tools=[], seed=1)
    scope = scope_of(asked._fingerprint, 1)
    body = {"text": "kept", "tool_calls": [], "finish_reason": "stop", "prompt_tokens": 3, "usd": None}
    body |= {"completion_tokens": 1, "cached": False}
    store.insert_responses([CachedResponse(asked._key(scope, request), scope, json.dumps(body))])
    reply = await asked.reply(request)
    assert (reply.text, reply.reasoning, reply.provider_turn, model.calls) == ("kept", "", None, 0)
