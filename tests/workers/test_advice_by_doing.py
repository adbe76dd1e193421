"""Advice that is carried out, word for word, makes its alert go away."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gnomon.media import MediaStore
from gnomon_service.cassettes import write_recorded
from gnomon_workers.endpoint_check import check_model, check_spec
from gnomon_workers.store import Store
from tests.chat_provider import Refusal
from tests.service.endpoints import FitEndpoint
from tests.workers.desk import Desk, Spec

KEY = "sk-right-abcdefgh"
SERVER = Path(__file__).parent.parent / "tools/servers/plain_server.py"
NOT_SHOWN = {
    "arms": [{"name": "raw", "agent": "direct", "show": []}, {"name": "tools", "agent": "direct", "show": []}]
}


class Faulty(FitEndpoint):
    """A model that is always right, behind a server with one fault, until that is mended."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault, self.is_mended, self.at_once = fault, False, 0

    def reply(self, request: Spec) -> Spec:
        if self.fault == "letters":
            return self.say("Answer: C")
        asked = re.findall(r"Number (\d+) is", json.dumps(request["messages"]))
        if "right" in json.dumps(request["messages"]):
            is_clear = self.fault != "judge:unreadable" or request["model"] == "m2"
            return self.say('{"right": 1}' if is_clear else "Hm.")
        calls = self.is_mended or self.fault != "calls nothing"
        if (
            calls
            and request.get("tools")
            and not any(message["role"] == "tool" for message in request["messages"])
        ):
            return self.call(request["tools"][0]["function"]["name"])
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
                time.sleep(1.5)
            case "timeout":
                time.sleep(1.5)

    def spoilt(self, request: Spec, body: Spec) -> Spec:
        limit = request.get("num_predict")
        match "" if self.is_mended else self.fault:
            case "over_max_tokens":
                tokens = min(limit or 99, 99)
                return {**body, "usage": {"prompt_tokens": 9, "completion_tokens": tokens}}
            case "uncounted":
                return {**body, "usage": {"prompt_tokens": "many", "completion_tokens": "some"}}
            case "refused" if request["model"] == "m" and "tools" in request:
                return {
                    **body,
                    "choices": [{"index": 0, "finish_reason": "content_filter", "message": self.say("")}],
                }
            case "drift" if request["model"] == "m":
                return {**body, "model": "m-new" if request.get("tools") else "m-old"}
        return body


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG_KEY", "sk-wrong-abcdefgh")
    monkeypatch.setenv("RIGHT_KEY", KEY)


@pytest.fixture
def questions(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    of = str(request.node.name)
    rows = [
        {"id": f"q{n}", "question": f"Number {n} is it. Which?", "answer": n, "scorer": "number"}
        for n in range(8 if "drift" in of else 3)
    ]
    Image.new("RGB", (8, 8)).save(tmp_path / "p.png")
    for row in rows if "picture" in of else ():
        row["image"] = "p.png"
    for row in rows if "judge" in of else ():
        del row["scorer"]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


@pytest.fixture
def desk(real_store: Store, tmp_path: Path, questions: str) -> Desk:
    return Desk(real_store, tmp_path, questions)


TOOLS = {
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": ["describe_path"]},
    ]
}
PLACES = {
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["find_place"]}]
}


def judged(**judge: Any) -> Spec:
    return {"scorer": "judge", "judge": {"id": "openai/judge", "client": "direct", **judge}}


def own_agent(*command: str, seconds: float = 5) -> Spec:
    agent = {"command": list(command), "timeout_seconds": seconds}
    return {"arms": [{"name": "raw", "agent": "direct"}, {"name": "own", "agent": agent}]}


SAYS = own_agent("sh", "-c", """echo '{"answer": "1"}'""")
SLEEPS = ("sh", "-c", """sleep 1.5; echo '{"answer": "1"}'""")


def served_by(script: Path, **more: Any) -> list[Spec]:
    """Arms without and with the tool `measure` of that server."""
    command = [sys.executable, str(script)]
    limits = {"start_seconds": 5}
    server = {"name": "own", "mcp": {"command": command}, "include": ["measure"], "limits": limits}
    return [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": [server], **more},
    ]


# By fault: model and job as planted, the kind of alert, words of its advice, and what is done about it: model
# and job of another one, or None: the server, or the variable, is put right, and the job resumed.
DONE: list[tuple[str, Spec, Spec, str, str, tuple[Spec, Spec] | None]] = [
    ("auth", {"api_key_env": "WRONG_KEY"}, {}, "failed", "Check the key", ({"api_key_env": "RIGHT_KEY"}, {})),
    ("no_api_key", {"api_key_env": "ABSENT_KEY"}, {}, "failed", "Set that variable where", None),
    (
        "no_api_key",
        {"api_key_env": "ABSENT_KEY"},
        {},
        "failed",
        "or name another",
        ({"api_key_env": "RIGHT_KEY"}, {}),
    ),
    ("not_found", {}, {}, "failed", "Check the model's `id`", ({"id": "openai/m2"}, {})),
    ("connection", {"api_base": "http://127.0.0.1:9/v1"}, {}, "failed", "Check `api_base`", ({}, {})),
    ("bad_request", {"options": {"top_k": 3}}, {}, "failed", "Compare what the endpoint takes", ({}, {})),
    ("quota", {}, {}, "failed", "Top up the provider's account", None),
    ("server_error", {}, {}, "failed", "try again later", None),
    ("server_error of tools", {}, TOOLS, "missing", "try again later", None),
    (
        "rate_limit",
        {},
        {"concurrency": 8},
        "missing",
        "Lower `rate` or `concurrency`",
        ({}, {"concurrency": 1}),
    ),
    ("rate_limit", {}, {"concurrency": 8}, "missing", "or wait", None),
    (
        "timeout",
        {"call_seconds": 1.0},
        {},
        "failed",
        "raise the model's `call_seconds`",
        ({"call_seconds": 5}, {}),
    ),
    ("timeout", {"call_seconds": 1.0}, {}, "failed", "try again later", None),
    (
        "budget",
        {},
        {"limits": {"tokens": 20}},
        "missing",
        "Raise `limits`",
        ({}, {"limits": {"tokens": 2000}}),
    ),
    (
        "over_max_tokens",
        {"max_tokens": 9},
        {},
        "over_max_tokens",
        "in the model's `options`",
        ({"max_tokens": 9, "options": {"num_predict": 9}}, {}),
    ),
    ("uncounted", {}, {}, "uncounted", "that reports them as whole", ({}, {})),
    ("drift", {}, TOOLS, "drift", "under one version of the model", ({"id": "openai/m2"}, TOOLS)),
    ("start", {}, own_agent("no-such-program"), "missing", "Check `command`", ({}, SAYS)),
    ("exit", {}, own_agent("sh", "-c", "exit 3"), "missing", "Run the command by hand", ({}, SAYS)),
    ("bad_json", {}, own_agent("echo", "hi"), "missing", "Compare what the agent answers", ({}, SAYS)),
    ("slow", {}, own_agent(*SLEEPS, seconds=1), "missing", "`timeout_seconds`", ({}, own_agent(*SLEEPS))),
    ("refused", {}, TOOLS, "refused", "Ask another model", ({"id": "openai/m2"}, TOOLS)),
    ("kept", {}, {"cache": True, **TOOLS}, "kept_replies", "`cache: false`", ({}, {"cache": False, **TOOLS})),
    ("never offered", {}, PLACES, "never_offered", "or the arm other `tools`", ({}, TOOLS)),
    (
        "auth",
        {"api_key_env": "RIGHT_KEY"},
        judged(api_key_env="WRONG_KEY"),
        "failed",
        "`judge.api_key_env`",
        ({"api_key_env": "RIGHT_KEY"}, judged(api_key_env="RIGHT_KEY")),
    ),
    ("judge:no_api_key", {}, judged(api_key_env="ABSENT_KEY"), "failed", "Set the judge's key where", None),
    ("judge:unreadable", {}, judged(), "failed", "another `judge`", ({}, judged(name="j2", id="openai/m2"))),
    (
        "judge:timeout",
        {},
        judged(call_seconds=1.0),
        "failed",
        "raise `judge.call_seconds`",
        ({}, judged(call_seconds=5)),
    ),
    (
        "no pictures",
        {"pictures": False},
        {},
        "pictures_left_out",
        "`pictures: true`",
        ({"pictures": True}, {}),
    ),
    (
        "no pictures",
        {"pictures": False},
        {},
        "pictures_left_out",
        "the arm `show: []`",
        ({"pictures": False}, NOT_SHOWN),
    ),
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
        assert words in told[kind]
        server.is_mended = deed is None or fault == "uncounted"
        if deed is not None:
            told = desk.alerts(desk.post(server.url, deed[0], **deed[1]))
        else:
            monkeypatch.setenv("ABSENT_KEY", KEY)
            told = desk.alerts(desk.store.resume(planted.id))
    assert told == {}


def test_what_waits_for_its_provider_goes_on_by_itself(desk: Desk) -> None:
    with Faulty("") as server:
        job = desk.post(server.url, {})
        desk.store.note_wait(job.id, "m", error="slow down", wait_s=0.3)
        assert "The job goes on by itself then." in desk.told(job)["waiting"]
        time.sleep(0.3)
        assert desk.alerts(job) == {}


@pytest.mark.parametrize(
    ("line", "changed", "words"),
    [
        ("^MODE = .*", 'MODE = "dies"', "`gnomon resume` runs the trial again"),
        ("^MODE = .*", 'MODE = "mute"', "must start where the workers run"),
        ("Measure something", "Measure anything", "run a new job"),
    ],
)
def test_what_is_advised_on_a_tool_server_makes_the_alert_go_away(
    desk: Desk, tmp_path: Path, line: str, changed: str, words: str
) -> None:
    script, written = tmp_path / "server.py", SERVER.read_text()
    arms = served_by(script)
    with Faulty("") as endpoint:
        script.write_text(written)
        job = desk.post(endpoint.url, {}, arms=arms)
        script.write_text(re.sub(line, changed, written, flags=re.MULTILINE))
        assert words in desk.alerts(job)["missing"]
        if words == "run a new job":
            assert desk.alerts(desk.post(endpoint.url, {}, arms=arms)) == {}
        else:
            script.write_text(written)
            assert desk.alerts(desk.store.resume(job.id)) == {}


def test_a_cassette_that_lacks_a_call_is_recorded_again_or_left_out(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Faulty("calls nothing") as endpoint:

        def told(**cassette: str) -> dict[str, str]:
            more = {"cassette": cassette} if cassette else {}
            job = desk.post(endpoint.url, {}, arms=served_by(SERVER, **more))
            alerts = desk.alerts(job)
            assert len(list(write_recorded(desk.store, job, tmp_path))) == len(cassette.keys() & {"record"})
            return alerts

        told(record="calls.jsonl")
        endpoint.is_mended = True
        missing = told(replay="calls.jsonl")["missing"]
        assert "record it again" in missing
        assert "run the arm without one" in missing
        assert (told(record="calls.jsonl"), told(replay="calls.jsonl"), told()) == ({}, {}, {})


def test_a_job_whose_questions_are_gone_says_so_and_goes_on_once_they_are_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_SETUP_SECONDS", "0.001")
    file, away = Path(desk.data), Path(desk.data).with_suffix(".away")
    with Faulty("") as server:
        job = desk.post(server.url, {})
        file.rename(away)
        desk.alerts(job)
        told = desk.alerts(job)
        assert file.name in told["failed"]
        assert "`gnomon resume` runs what is missing" in told["failed"]
        away.rename(file)
        assert desk.alerts(desk.store.resume(job.id)) == {}


@pytest.mark.parametrize(
    ("rows", "kind", "done"),
    [
        ([{"id": "a"}, {"id": "b"}], "near_equal", [{"id": "a"}]),
        ([{"id": "a", "cluster": ["x", "y"]}], "cluster_factors", [{"id": "a", "cluster": "x"}]),
    ],
)
def test_what_is_advised_on_kin_questions_makes_the_alert_go_away(
    desk: Desk, rows: list[Spec], kind: str, done: list[Spec]
) -> None:
    question = {"question": "Number 7 is it. Which?", "answer": 7, "scorer": "number"}

    def told(rows: list[Spec]) -> dict[str, str]:
        Path(desk.data).write_text("\n".join(json.dumps({**question, **row}) for row in rows))
        return desk.told(desk.post("http://127.0.0.1:9/v1", {}))

    assert told(rows)[kind]
    assert kind not in told(done)


def test_an_alert_on_letters_says_how_to_read_the_arm_that_it_asked_for(desk: Desk) -> None:
    row = {"question": "Which?", "options": ["w", "x", "y", "z"]}
    rows = [
        {**row, "id": f"q{n}", "question": f"Which of {n * 'more '}these?", "answer": "wxyz"[n % 4]}
        for n in range(24)
    ]
    Path(desk.data).write_text("\n".join(map(json.dumps, rows)))
    permuted = {"name": "permuted", "agent": "direct", "transform": "permute_options"}
    with Faulty("letters") as server:
        told = desk.alerts(desk.post(server.url, {}, arms=[{"name": "raw", "agent": "direct"}]))
        assert "in an arm with `transform: permute_options`" in told["letters"]
        told = desk.alerts(desk.post(server.url, {}, arms=[{"name": "raw", "agent": "direct"}, permuted]))
        assert "Read “permuted” beside it" in told["letters"]


class Lacking(FitEndpoint):
    """Lacks one thing that a check looks for, until it is mended."""

    def __init__(self, lack: str) -> None:
        super().__init__()
        self.lack, self.is_mended = lack, False

    def body(self, request: Spec) -> Spec:
        body = super().body(request)
        prompt, reply = len(json.dumps(request)) // 4, min(request.get("max_tokens") or 99, 99)
        counted = None if self.lack == "usage" and not self.is_mended else (prompt, reply)
        return {
            **body,
            "usage": counted and dict(zip(("prompt_tokens", "completion_tokens"), counted, strict=True)),
        }

    def choice(self, request: Spec) -> Spec:
        refused = self.refusal(request)
        if refused and not self.is_mended:
            raise Refusal(400, refused)
        choice = super().choice(request)
        return choice if self.is_mended else {**choice, **self.spoilt(request, choice)}

    def refusal(self, request: Spec) -> str:
        messages = request["messages"]
        refused = {
            "tools": "tools" in request,
            "tool results": any(message["role"] == "tool" for message in messages),
            "pictures": any(isinstance(message.get("content"), list) for message in messages),
            "system": messages[0]["role"] == "system",
        }
        return "this cannot be read" if refused.get(self.lack) else ""

    def spoilt(self, request: Spec, choice: Spec) -> Spec:
        """What is another in a choice of this server."""
        roles = {message["role"] for message in request["messages"]}
        calls, is_short = choice["message"].get("tool_calls"), choice["finish_reason"] == "length"
        match self.lack:
            case "template" if "system" in roles:
                return {"message": self.say("OK")}
            case "reason" if is_short:
                return {"finish_reason": "stop"}
            case "room" if not (is_short or request.get("max_tokens", 0) > 100):
                return {"finish_reason": "length", "message": self.say("It has")}
            case "words" if request.get("chat_template_kwargs", {}).get("enable_thinking", True):
                return {"message": {**self.say(""), "reasoning_content": "Hm."}}
            case "parser" if calls:
                return {"message": self.say('{"name": "describe_path", "arguments": {}}')}
            case "object" if calls:
                calls[0]["function"]["arguments"] = "[1"
            case "use" if "tool" in roles and "tools" in request:
                return {"message": self.call("describe_path")}
            case "result" if "tool" in roles:
                return {"message": self.say("I called it.")}
            case "call" if calls:
                return {"message": self.say("I would rather not.")}
            case "speed":
                time.sleep(len(json.dumps(request["messages"])) / 4000)
        return {}


IN_WORDS: Spec = {
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "text-react", "tools": ["describe_path"]},
    ]
}
NO_THINKING = {"options": {"chat_template_kwargs": {"enable_thinking": False}}}
# What the endpoint lacks, the finding that says so, words of its advice, and what is done: another model and
# job, or None: the server is put right. Without a job the model is checked by itself.
LACKS: list[tuple[str, Spec | None, str, str, tuple[Spec, Spec | None] | None]] = [
    ("tools", TOOLS, "tool_call", "use `agent: text-react`", ({}, IN_WORDS)),
    ("tools", TOOLS, "tool_call", "start the server with a tool parser", None),
    ("parser", TOOLS, "tool_call", "Set the model's `tool_calls: text`", ({"tool_calls": "text"}, TOOLS)),
    ("parser", TOOLS, "tool_call", "use `agent: text-react`", ({}, IN_WORDS)),
    ("object", TOOLS, "tool_call", "see the server's tool parser", None),
    ("object", TOOLS, "tool_call", "use `agent: text-react`", ({}, IN_WORDS)),
    ("call", TOOLS, "tool_call", "use `agent: text-react`", ({}, IN_WORDS)),
    ("tool results", TOOLS, "tool_result", "use `agent: text-react`", ({}, IN_WORDS)),
    ("use", TOOLS, "tool_result", "use `agent: text-react`", ({}, IN_WORDS)),
    ("result", TOOLS, "tool_result", "use `agent: text-react`", ({}, IN_WORDS)),
    ("words", TOOLS, "answers", "No words came: see `reasoning`", (NO_THINKING, TOOLS)),
    (
        "words",
        TOOLS,
        "reasoning",
        "`options: {chat_template_kwargs: {enable_thinking: false}}`",
        (NO_THINKING, TOOLS),
    ),
    ("room", TOOLS, "answer_form", "Raise the model's `max_tokens`", ({"max_tokens": 500}, TOOLS)),
    ("reason", TOOLS, "stop_reason", "start the server so that it says `length`", None),
    ("template", None, "system_role", "start it with one that keeps them", None),
    ("system", None, "system_role", "with a template that takes system messages", None),
    ("pictures", {}, "picture", "Set `pictures: false`", ({"pictures": False}, {})),
    ("pictures", None, "tool_picture", "leave out the tools that show pictures", ({}, {})),
    ("usage", {"limits": {"tokens": 9}}, "tokens", "or leave the spec's `limits` out", ({}, {})),
    ("usage", {"limits": {"tokens": 9}}, "tokens", "so that it reports `usage`", None),
    ("speed", None, "speed", "raise it", ({"call_seconds": 600}, None)),
]


@pytest.mark.parametrize(("lack", "job", "check", "words", "deed"), LACKS)
def test_what_a_finding_advises_makes_it_go_away(
    desk: Desk, lack: str, job: Spec | None, check: str, words: str, deed: tuple[Spec, Spec | None] | None
) -> None:
    def found(model: Spec, job: Spec | None) -> Any:
        draft, media = desk.draft(server.url, model, **(job or {})), MediaStore(desk.folder / "media")
        document = check_model(draft.spec.models[0], media) if job is None else check_spec(draft.job)
        [fitness] = document["models"]
        return next(row for row in fitness["findings"] if row["check"] == check)

    planted = {"call_seconds": 0.3} if lack == "speed" else {"max_tokens": 90} if lack == "room" else {}
    with Lacking(lack) as server:
        row = found(planted, job)
        assert (row["state"], words in row["advice"]) == ("unfit", True)
        server.is_mended = deed is None
        row = found(*(deed or ({}, job)))
        assert row["state"] != "unfit"
