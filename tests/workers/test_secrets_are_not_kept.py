"""A provider that says a worker's key wherever it can: nothing that is kept or shown holds it."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from starlette.testclient import TestClient

from gnomon_service.api.app import create_app
from gnomon_service.reports import report_of, write_folder
from gnomon_service.settings import read_settings
from gnomon_workers.shard import run_shard
from gnomon_workers.store import Store
from tests.agents.conftest import FakeProvider, serving
from tests.workers.conftest import Plant, create
from tests.workers.tiny_worker import context_of

KEY = "canary-4f1d+do/not-leak-7b2e"
FORMS = {
    KEY,
    json.dumps(KEY)[1:-1],
    "canary-4f1d%2Bdo%2Fnot-leak-7b2e",
    base64.b64encode(KEY.encode()).decode().rstrip("=")[:-1],
}


def replied(message: dict[str, Any], **more: Any) -> str:
    choice = {"message": {"role": "assistant", "content": None, **message}, **more.pop("choice", {})}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 4}, **more})


def calling(name: str, arguments: str, call_id: str = "1") -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [call]}


ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
SAID: tuple[tuple[int, str, dict[str, str]], ...] = (
    (200, replied({"content": f"A, by {KEY}"}), {}),
    (200, replied({"content": f"A, by {base64.b64encode(f'me:{KEY}'.encode()).decode()}"}), {}),
    (200, replied({"content": "A, at canary-4f1d%2Bdo%2Fnot-leak-7b2e"}), {}),
    (200, replied({"content": "A", "reasoning_content": f"I got {KEY}", "reasoning": KEY}), {}),
    (200, replied({"content": "A"}, choice={"finish_reason": KEY}), {"x-request-id": KEY}),
    (200, replied({"content": "A"}, system_fingerprint=KEY, usage={KEY: KEY}), {}),
    (200, replied({"refusal": f"not with {KEY}"}), {}),
    (200, replied(calling("distance", json.dumps({"start": KEY}))), {}),
    (200, replied(calling("distance", f'{{"start": "{ESCAPED}"}}')), {}),
    (200, replied(calling("distance", f'{{"start": {KEY}')), {}),
    (200, replied(calling(KEY, "{}", call_id=KEY)), {}),
    (200, f"<html>{KEY}", {}),
    (401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}), {}),
    (400, json.dumps({"error": {"message": f"Bearer {KEY}", "code": KEY}}), {"retry-after": KEY}),
    (500, KEY, {}),
)  # fmt: skip


@pytest.fixture
def leaky(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PROVIDER_ACCESS", KEY)  # the variable's name tells nothing; the spec does
    with serving() as provider:
        for status, body, headers in SAID:
            provider.answers(status, body, headers)
        provider.choose = _asked
        yield provider


def _asked(request: dict[str, Any]) -> int:
    found = re.search(r"Question s(\d+):", json.dumps(request))
    assert found is not None
    return int(found[1]) % len(SAID)


def spec_at(provider: FakeProvider) -> dict[str, Any]:
    model = {"id": "openai/m", "api_base": provider.url, "api_key_env": "PROVIDER_ACCESS"}
    arm = {"name": "a", "agent": "react", "tools": ["distance"], "max_turns": 2}
    return {"models": [model], "arms": [arm], "retry": {"base_s": 0.01}}


def test_a_key_that_a_provider_says_is_nowhere_afterwards(
    plant: Plant, leaky: FakeProvider, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plant.start(1)
    job = plant.end_of(plant.post(len(SAID), **spec_at(leaky), limits={"trial_seconds": 60}))
    assert leaky.headers[0]["authorization"] == f"Bearer {KEY}"
    assert job.counts.planned == len(SAID) == sum(1 for _ in plant.store.iter_rows(job.id))
    rows = list(plant.store.iter_rows(job.id))
    traces = [plant.store.trace(row.trial_id) for row in rows]
    texts = {
        "rows": json.dumps([str(row) for row in rows]),
        "traces": json.dumps(traces),
        "replies": json.dumps([body for _, body in _kept_replies(plant.store)]),
        "redis": json.dumps(_dumped(plant.redis), default=repr),
        "shown": _shown(plant.store, plant.redis, job.id, [row.trial_id for row in rows]),
        "written": "".join(capfd.readouterr()),
    }
    for file in tmp_path.rglob("*"):
        if file.is_file():
            texts[file.name] = file.read_bytes().decode("latin-1")
    report = report_of(plant.store, job.id)
    write_folder(plant.store, job.id, report, tmp_path / "out")
    for file in (tmp_path / "out").iterdir():
        texts[f"out/{file.name}"] = file.read_text()
    found = [(name, form) for name, text in texts.items() for form in FORMS if form in text]
    assert not found
    assert "A, by [secret]" in texts["traces"]
    assert {row.answer for row in rows if row.answer} >= {"A"}


def test_what_is_scored_is_what_is_kept_and_what_is_sent_back(
    real_store: Store, leaky: FakeProvider, tmp_path: Path
) -> None:
    leaky.replies.clear()
    leaky.answers(200, replied({"content": KEY, **calling("distance", json.dumps({"start": KEY}))}))
    leaky.choose = None
    job = create(real_store, 1, **spec_at(leaky))
    run_shard(job.id, 0, context=context_of(real_store, tmp_path))
    (row,) = real_store.iter_rows(job.id)
    trace = real_store.trace(row.trial_id)
    assert trace is not None
    first = trace["steps"][0]
    assert (first["text"], first["tool_calls"][0]["function"]["arguments"]) == (
        "[secret]",
        '{"start": "[secret]"}',
    )
    again = leaky.requests[1]["messages"]
    assert KEY not in json.dumps(again)
    assert "[secret]" in json.dumps(again)


def test_what_holds_no_secret_comes_back_as_it_was(
    real_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, word in enumerate(("anything", "20260101", "key-frame", "no-key-required", "A")):
        monkeypatch.setenv(f"SOME_API_KEY_{number}", word)
    monkeypatch.setenv("PROVIDER_ACCESS", "anything")
    text = (
        "anything of 20260101: key-frame-positions, no-key-required, sk-i-resort, the Bearer of news\n\\u0041"
    )
    with serving() as provider:
        provider.says(text)
        job = create(real_store, 1, **spec_at(provider))
        run_shard(job.id, 0, context=context_of(real_store, tmp_path))
    (row,) = real_store.iter_rows(job.id)
    trace = real_store.trace(row.trial_id)
    assert trace is not None
    assert trace["response"] == text


def _kept_replies(store: Store) -> list[tuple[bytes, str]]:
    from sqlalchemy import select

    from gnomon_workers.store.schema import replies

    with store.reading() as db:
        return [(row.key, str(row.body)) for row in db.execute(select(replies.c.key, replies.c.body))]


def _dumped(redis: Redis) -> list[Any]:
    read: dict[bytes, Callable[[bytes], Any]] = {
        b"string": redis.get,
        b"hash": redis.hgetall,
        b"list": lambda key: redis.lrange(key, 0, -1),
        b"set": redis.smembers,
        b"zset": lambda key: redis.zrange(key, 0, -1, withscores=True),
        b"stream": lambda key: redis.xrange(key),
    }
    kinds = [(key, redis.type(key)) for key in redis.scan_iter()]
    return [
        (key, str(read[kind](key))) for key, kind in kinds if kind != b"none"
    ]  # that one has just expired


def _shown(store: Store, redis: Redis, job_id: str, trial_ids: list[str]) -> str:
    app = create_app(read_settings({}, data_dir=Path("/nowhere")), store=store, redis=redis)
    paths = [f"/v1/jobs/{job_id}", f"/v1/jobs/{job_id}/trials", f"/v1/jobs/{job_id}/events"]
    paths += [f"/v1/trials/{trial_id}" for trial_id in trial_ids]
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        texts = [client.get(path).text for path in paths]
        texts += [client.get(f"/v1/jobs/{job_id}/trials", headers={"accept": "text/csv"}).text]
        texts += [client.get(f"/v1/jobs/{job_id}/report", headers={"accept": "text/html"}).text]
    return "\n".join(texts)
