"""Advice that is carried out, word for word, makes its alert go away."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gnomon.media import MediaStore
from gnomon.spec.rules import open_samples, parse_spec
from gnomon_service.reports import report_of
from gnomon_workers.open_job import open_spec
from gnomon_workers.shard import run_shard
from gnomon_workers.store import JobRecord, Store
from tests.chat_provider import Refusal
from tests.service.endpoints import FitEndpoint
from tests.workers.tiny_worker import context_of

KEY = "sk-right-abcdefgh"
Spec = dict[str, Any]
NOT_SHOWN = {"arms": [{"name": "raw", "agent": "direct", "show": []}, {"name": "tools", "agent": "direct", "show": []}]}


class Faulty(FitEndpoint):
    """A model that is always right, behind a server with one fault, until that is mended."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault, self.is_mended, self.at_once = fault, False, 0

    def reply(self, request: Spec) -> Spec:
        asked = re.findall(r"Number (\d+) is", json.dumps(request["messages"]))
        if "right" in json.dumps(request["messages"]):
            is_clear = self.fault != "judge:unreadable" or request["model"] == "m2"
            return self.say('{"right": 1}' if is_clear else "Hm.")
        if request.get("tools") and not any(message["role"] == "tool" for message in request["messages"]):
            return self.call("describe_path")
        return self.say(f"Answer: {asked[-1]}") if asked else super().reply(request)

    def body(self, request: Spec) -> Spec:
        self.at_once += 1
        try:
            self.refuse(request)
            return self.spoilt(request, super().body(request))
        finally:
            self.at_once -= 1

    def refuse(self, request: Spec) -> None:
        if self.is_mended:
            return
        match self.fault:
            case "auth" if self.keys[-1] != KEY:
                raise Refusal(401, "Incorrect API key provided")
            case "not_found" if request["model"] != "m2":
                raise Refusal(404, "The model does not exist")
            case "bad_request" if "top_k" in request:
                raise Refusal(400, "Unrecognized request argument: top_k")
            case "quota":
                raise Refusal(429, {"message": "No credit is left", "code": "insufficient_quota"})
            case "server_error of tools" if "tools" in request:
                raise Refusal(500, "internal error")
            case "server_error":
                raise Refusal(500, "internal error")
            case "rate_limit":
                time.sleep(0.1)
                if self.at_once > 1:
                    raise Refusal(429, "Rate limit reached")
            case "judge:timeout" if request["model"] == "judge":
                time.sleep(0.4)
            case "timeout":
                time.sleep(0.4)

    def spoilt(self, request: Spec, body: Spec) -> Spec:
        limit = request.get("num_predict")
        match "" if self.is_mended else self.fault:
            case "over_max_tokens":
                tokens = min(limit or 99, 99)
                return {**body, "usage": {"prompt_tokens": 9, "completion_tokens": tokens}}
            case "uncounted":
                return {**body, "usage": {"prompt_tokens": "many", "completion_tokens": "some"}}
            case "refused" if request["model"] == "m" and "tools" in request:
                return {**body, "choices": [{"index": 0, "finish_reason": "content_filter", "message": self.say("")}]}
            case "drift" if request["model"] == "m":
                return {**body, "model": "m-new" if request.get("tools") else "m-old"}
        return body


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG_KEY", "sk-wrong-abcdefgh")
    monkeypatch.setenv("RIGHT_KEY", KEY)


@pytest.fixture
def questions(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    rows = [{"id": f"q{n}", "question": f"Number {n} is it. Which?", "answer": n, "scorer": "number"} for n in range(8)]
    Image.new("RGB", (8, 8)).save(tmp_path / "p.png")
    for row in rows if "picture" in str(request.node.name) else ():
        row["image"] = "p.png"
    for row in rows if "judge" in str(request.node.name) else ():
        del row["scorer"]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


class Desk:
    """Where jobs are posted, run in this process, resumed, and reported."""

    def __init__(self, store: Store, folder: Path, data: str) -> None:
        self.store, self.folder, self.data = store, folder, data

    def post(self, url: str, model: Spec, **changes: Any) -> JobRecord:
        spec = parse_spec(
            {
                "benchmark": "questions",
                "data": self.data,
                "models": [{"id": "openai/m", "name": "m", "api_base": url, "client": "direct", **model}],
                "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "direct"}],
                "retry": {"max_attempts": 1, "base_s": 0},
                "cache": False,
                "preflight": False,
                **changes,
                **({"judge": {"api_base": url, **changes["judge"]}} if "judge" in changes else {}),
            },
            agents=("direct", "react", "text-react"),
        )
        samples = open_samples(spec, MediaStore(self.folder / "media"))
        return self.store.create_job(spec, samples.refs, faults=samples.faults)

    def alerts(self, job: JobRecord) -> dict[str, str]:
        """Run what is open of a job: its alerts by kind."""
        for shard in range(job.shards):
            run_shard(job.id, shard, context=context_of(self.store, self.folder, open_spec=open_spec))
        return self.told(job)

    def told(self, job: JobRecord) -> dict[str, str]:
        return {said["kind"]: said["text"] for said in report_of(self.store, job.id)["alerts"]}


@pytest.fixture
def desk(real_store: Store, tmp_path: Path, questions: str) -> Desk:
    return Desk(real_store, tmp_path, questions)


TOOLS = {"arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["describe_path"]}]}
PLACES = {"arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["find_place"]}]}
def judged(**judge: Any) -> Spec:
    return {"scorer": "judge", "judge": {"id": "openai/judge", "client": "direct", **judge}}


# By fault: model and job as planted, the kind of alert, words of its advice, and what is done about it: model
# and job of another one, or None: the server, or the variable, is put right, and the job resumed.
DONE: list[tuple[str, Spec, Spec, str, str, tuple[Spec, Spec] | None]] = [
    ("auth", {"api_key_env": "WRONG_KEY"}, {}, "failed", "Check the key", ({"api_key_env": "RIGHT_KEY"}, {})),
    ("no_api_key", {"api_key_env": "ABSENT_KEY"}, {}, "failed", "Set that variable where", None),
    ("no_api_key", {"api_key_env": "ABSENT_KEY"}, {}, "failed", "or name another", ({"api_key_env": "RIGHT_KEY"}, {})),
    ("not_found", {}, {}, "failed", "Check the model's `id`", ({"id": "openai/m2"}, {})),
    ("connection", {"api_base": "http://127.0.0.1:9/v1"}, {}, "failed", "Check `api_base`", ({}, {})),
    ("bad_request", {"options": {"top_k": 3}}, {}, "failed", "Compare what the endpoint takes", ({}, {})),
    ("quota", {}, {}, "failed", "Top up the provider's account", None),
    ("server_error", {}, {}, "failed", "try again later", None),
    ("server_error of tools", {}, TOOLS, "missing", "try again later", None),
    ("rate_limit", {}, {"concurrency": 8}, "missing", "Lower `rate` or `concurrency`", ({}, {"concurrency": 1})),
    ("rate_limit", {}, {"concurrency": 8}, "missing", "or wait", None),
    ("timeout", {"call_seconds": 0.2}, {}, "failed", "raise the model's `call_seconds`", ({"call_seconds": 5}, {})),
    ("timeout", {"call_seconds": 0.2}, {}, "failed", "try again later", None),
    ("budget", {}, {"limits": {"tokens": 20}}, "missing", "Raise `limits`", ({}, {"limits": {"tokens": 2000}})),
    ("over_max_tokens", {"max_tokens": 9}, {}, "over_max_tokens", "in the model's `options`", ({"max_tokens": 9, "options": {"num_predict": 9}}, {})),
    ("uncounted", {}, {}, "uncounted", "that reports them as whole", ({}, {})),
    ("drift", {}, TOOLS, "drift", "under one version of the model", ({"id": "openai/m2"}, TOOLS)),
    ("refused", {}, TOOLS, "refused", "Ask another model", ({"id": "openai/m2"}, TOOLS)),
    ("kept", {}, {"cache": True, **TOOLS}, "kept_replies", "`cache: false`", ({}, {"cache": False, **TOOLS})),
    ("never offered", {}, PLACES, "never_offered", "or the arm other `tools`", ({}, TOOLS)),
    ("auth", {"api_key_env": "RIGHT_KEY"}, judged(api_key_env="WRONG_KEY"), "failed", "`judge.api_key_env`", ({"api_key_env": "RIGHT_KEY"}, judged(api_key_env="RIGHT_KEY"))),
    ("judge:no_api_key", {}, judged(api_key_env="ABSENT_KEY"), "failed", "Set the judge's key where", None),
    ("judge:unreadable", {}, judged(), "failed", "another `judge`", ({}, judged(name="j2", id="openai/m2"))),
    ("judge:timeout", {}, judged(call_seconds=0.2), "failed", "raise `judge.call_seconds`", ({}, judged(call_seconds=5))),
    ("no pictures", {"pictures": False}, {}, "pictures_left_out", "`pictures: true`", ({"pictures": True}, {})),
    ("no pictures", {"pictures": False}, {}, "pictures_left_out", "the arm `show: []`", ({"pictures": False}, NOT_SHOWN)),
]


@pytest.mark.parametrize(("fault", "model", "job", "kind", "words", "deed"), DONE)
def test_what_an_alert_advises_makes_it_go_away(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    model: Spec,
    job: Spec,
    kind: str,
    words: str,
    deed: tuple[Spec, Spec] | None,
) -> None:
    with Faulty(fault) as server:
        if fault == "kept":
            desk.alerts(desk.post(server.url, {}, cache=True, arms=TOOLS["arms"][:1]))
        planted = desk.post(server.url, model, **job)
        told = desk.alerts(planted)
        print(fault, told, desk.store.job(planted.id).status)
        assert words in told[kind]
        server.is_mended = deed is None or fault == "uncounted"
        if deed is not None:
            told = desk.alerts(desk.post(server.url, deed[0], **deed[1]))
        else:
            monkeypatch.setenv("ABSENT_KEY", KEY)
            told = desk.alerts(desk.store.resume(planted.id))
    print(told)
    assert told == {}


def test_what_waits_for_its_provider_goes_on_by_itself(desk: Desk) -> None:
    with Faulty("") as server:
        job = desk.post(server.url, {})
        desk.store.note_wait(job.id, "m", error="slow down", wait_s=0.3)
        assert "The job goes on by itself then." in desk.told(job)["waiting"]
        time.sleep(0.3)
        assert desk.alerts(job) == {}
