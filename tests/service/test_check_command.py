"""`gnomon check` says of an endpoint what it is fit for, by calls that it really makes."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon.fitness.needs import OWN_TOOL
from tests.service.endpoints import (
    Blind,
    CallsAsText,
    Cutting,
    FitEndpoint,
    Hanging,
    Repeating,
    Slow,
    ThinksOnly,
    WithoutTools,
)

Command = Callable[..., "subprocess.CompletedProcess[str]"]
KEY = "sk-abcdefghijklmnop"


@pytest.fixture
def check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_in_process: Command
) -> Callable[..., tuple[int, dict[str, Any], str]]:
    """Run `gnomon check --json` on an endpoint, or on a spec of it: exit code, document, stderr."""
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))

    def run(
        endpoint: FitEndpoint, *options: str, spec: Mapping[str, Any] | None = None, **model: Any
    ) -> tuple[int, dict[str, Any], str]:
        target = ["openai/m", "--api-base", endpoint.url]
        if spec is not None:
            models = [{"id": "openai/m", "api_base": endpoint.url, **model}]
            path = tmp_path / "spec.yaml"
            path.write_text(
                yaml.safe_dump({"benchmark": "worlds", "select": {"limit": 4}, "models": models, **spec})
            )
            target = [str(path)]
        done = run_in_process("check", *target, *options, "--json")
        return done.returncode, json.loads(done.stdout), done.stderr

    return run


Check = Callable[..., tuple[int, dict[str, Any], str]]
NATIVE = {"arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}]}
IN_WORDS = {
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "text-react", "tools": "all"}]
}
WITHOUT = {"arms": [{"name": "raw", "agent": "direct", "show": ["camera_data"]}]}


def states(document: Mapping[str, Any]) -> dict[str, str]:
    return {row["check"]: row["state"] for row in document["models"][0]["findings"]}


def row_of(document: Mapping[str, Any], check: str) -> dict[str, str]:
    return next(row for row in document["models"][0]["findings"] if row["check"] == check)


def test_an_endpoint_that_does_all_is_fit_and_was_asked_each_thing_once(check: Check) -> None:
    with FitEndpoint() as endpoint:
        code, document, _ = check(endpoint)
    [fitness] = document["models"]
    assert (code, document["fit"], fitness["native_tools"]) == (0, True, "fit")
    assert fitness["sentence"] == "openai/m is fit for what is asked of it; fit for native tools."
    assert "unfit" not in states(document).values()
    assert len(endpoint.requests) == fitness["calls"] == 7
    assert (fitness["prompt_tokens"], fitness["completion_tokens"], fitness["usd"]) == (63, 21, None)
    assert {
        request["tools"][0]["function"]["name"] for request in endpoint.requests if "tools" in request
    } == {OWN_TOOL["function"]["name"]}


@pytest.mark.parametrize(
    ("kind", "code", "unfit", "words"),
    [
        (WithoutTools, 1, {"tool_call"}, "start the server with a tool parser"),
        (CallsAsText, 1, {"tool_call", "calls_in_text"}, "`tool_calls: text`"),
        (ThinksOnly, 1, {"answers", "reasoning", "tool_result"}, "`thought_only`"),
        (
            Cutting,
            1,
            {"answers", "answer_form", "tool_call"},
            "Raise the model's `max_tokens`",
        ),
        (Repeating, 1, {"tool_result", "tool_picture"}, "until `max_tool_calls`"),
        (Blind, 0, {"picture", "tool_picture"}, "`pictures: false`"),
    ],
)
def test_what_an_endpoint_lacks_is_named_with_what_helps(
    check: Check, kind: type[FitEndpoint], code: int, unfit: set[str], words: str
) -> None:
    with kind() as endpoint:
        ended, document, _ = check(endpoint)
    assert ended == code
    assert {name for name, state in states(document).items() if state == "unfit"} == unfit
    assert any(words in row["advice"] for row in document["models"][0]["findings"])


@pytest.mark.parametrize(
    ("kind", "spec", "model", "code", "native"),
    [
        (WithoutTools, NATIVE, {}, 1, "unfit"),
        (WithoutTools, IN_WORDS, {}, 0, "not_needed"),
        (CallsAsText, NATIVE, {}, 1, "unfit"),
        (Blind, NATIVE, {}, 1, "fit"),
        (Blind, NATIVE, {"pictures": False}, 0, "fit"),
        (Blind, WITHOUT, {}, 0, "not_needed"),
        (Cutting, WITHOUT, {}, 1, "not_needed"),
    ],
)
def test_of_a_spec_only_what_its_arms_need_decides(
    check: Check, kind: type[FitEndpoint], spec: dict[str, Any], model: dict[str, Any], code: int, native: str
) -> None:
    with kind() as endpoint:
        ended, document, _ = check(endpoint, spec=spec, **model)
    assert (ended, document["models"][0]["native_tools"]) == (code, native)
    assert document["fit"] == (code == 0)


def test_all_tools_of_the_arms_are_offered_as_trials_offer_them(check: Check) -> None:
    with FitEndpoint() as endpoint:
        check(endpoint, spec={"arms": [{"name": "t", "agent": "react", "tools": ["bearing", "distance"]}]})
    offered = [
        [tool["function"]["name"] for tool in request["tools"]]
        for request in endpoint.requests
        if "tools" in request
    ]
    assert offered == [["bearing", "distance"]] * 2


def test_calls_in_words_are_fit_where_the_spec_reads_them(check: Check) -> None:
    with CallsAsText() as endpoint:
        code, document, _ = check(endpoint, spec=NATIVE, tool_calls="text")
    assert code == 0, document
    assert document["models"][0]["native_tools"] == "unfit"
    assert states(document)["tool_result"] == "fit"
    [result] = [request for request in endpoint.requests if request["messages"][-1]["role"] == "tool"]
    assert result["messages"][-2]["tool_calls"][0]["id"] == "text00000"  # as trials send it


def test_a_call_that_is_quoted_or_thought_of_is_none(check: Check) -> None:
    class Quotes(CallsAsText):
        def call(self, name: str) -> dict[str, Any]:
            call = json.dumps({"name": name, "arguments": {}})
            thought = f"<think>{call}</think>" if self.has_thought else call
            return self.say(f"One would write\n{thought}\nbut there is no tool.")

    for has_thought in (False, True):
        with Quotes() as endpoint:
            endpoint.has_thought = has_thought
            code, document, _ = check(endpoint, spec=NATIVE, tool_calls="text")
        assert (code, states(document)["tool_call"]) == (1, "unfit")
        assert row_of(document, "tool_call")["came"].startswith("no call: ")


@pytest.mark.parametrize("tool_calls", ["text", "auto"])
def test_calls_in_words_are_given_back_as_trials_give_them_back(check: Check, tool_calls: str) -> None:
    class CallsWhereItMust(CallsAsText):
        def reply(self, request: dict[str, Any]) -> dict[str, Any]:
            if request.get("tools") and request["messages"][-1]["role"] == "user":
                return super().reply(request) if request["tool_choice"] == "required" else self.say("No.")
            return super().reply(request)

    arms = [{**arm, **({"tool_choice": "required"} if arm.get("tools") else {})} for arm in NATIVE["arms"]]
    with CallsWhereItMust() as endpoint:
        code, document, _ = check(endpoint, spec={"arms": arms}, tool_calls=tool_calls)
    assert code == 0, document
    assert document["models"][0]["native_tools"] == "unfit"
    assert (states(document)["tool_call"], states(document)["tool_result"]) == ("fit", "fit")
    asked = [request for request in endpoint.requests if request.get("tools")]
    assert [request["tool_choice"] for request in asked] == ["required", "auto"]
    _, turn, result = asked[1]["messages"]
    [call] = turn["tool_calls"]
    assert (turn["role"], turn["content"] or "") == ("assistant", "")
    assert (result["role"], result["tool_call_id"]) == ("tool", call["id"])


def test_an_arm_that_need_not_call_is_not_made_to(check: Check) -> None:
    arms = [*NATIVE["arms"], {"name": "must", "agent": "react", "tools": "all", "tool_choice": "required"}]
    with FitEndpoint() as endpoint:
        check(endpoint, spec={"arms": arms})
    assert {request["tool_choice"] for request in endpoint.requests if request.get("tools")} == {"auto"}


@pytest.mark.parametrize(
    ("kind", "advice"),
    [(ThinksOnly, "enable_thinking: false"), (Cutting, "raise the model's `max_tokens`")],
)
def test_thinking_alone_is_no_answer_in_the_asked_form_and_what_helps_depends_on_its_end(
    check: Check, kind: type[FitEndpoint], advice: str
) -> None:
    class ThinksUntilCut(Cutting):
        def say(self, text: str) -> dict[str, Any]:
            return {"role": "assistant", "content": "", "reasoning_content": text}

    with (ThinksUntilCut if kind is Cutting else kind)() as endpoint:
        _, document, _ = check(endpoint, spec=WITHOUT)
    row = row_of(document, "answer_form")
    assert row["state"] == ("unfit" if kind is Cutting else "unknown")
    assert row["came"].startswith("reasoning alone")
    assert advice in row_of(document, "reasoning")["advice"]


@pytest.mark.parametrize(
    ("limit", "advice"),
    [
        ({}, "the spec sets no `max_tokens`: the server caps replies by itself"),
        ({"max_tokens": 900}, "`max_tokens` is 900: the server caps replies"),
        ({"max_tokens": 3}, "Raise the model's `max_tokens`."),
    ],
)
def test_a_server_that_caps_replies_is_told_of_and_a_cut_reply_shows_nothing_else(
    check: Check, limit: dict[str, Any], advice: str
) -> None:
    with Cutting() as endpoint:
        code, document, _ = check(endpoint, spec=WITHOUT, **limit)
    assert (code, document["models"][0]["fit"]) == (1, False)
    assert (states(document)["answers"], states(document)["answer_form"]) == ("unfit", "unfit")
    assert advice in row_of(document, "answer_form")["advice"]
    with Cutting() as endpoint:
        _, document, _ = check(endpoint)
    assert (states(document)["system_role"], states(document)["picture"]) == ("unknown", "unknown")
    assert document["models"][0]["sentence"].startswith(
        "openai/m is not fit (answers, answer_form, tool_call)"
    )


def test_where_cuts_are_not_told_an_answer_without_its_form_may_have_been_cut(check: Check) -> None:
    class CutsInSilence(Cutting):
        def choice(self, request: dict[str, Any]) -> dict[str, Any]:
            return {**super().choice(request), "finish_reason": "stop"}

    with CutsInSilence() as endpoint:
        _, document, _ = check(endpoint, spec=WITHOUT)
    assert (states(document)["answer_form"], states(document)["stop_reason"]) == ("unknown", "unfit")
    assert document["models"][0]["sentence"].startswith(
        "openai/m is fit for what is asked of it, with faults (stop_reason);"
    )


def test_the_sentence_names_all_that_is_not_fit_and_needed(check: Check) -> None:
    class TellsNoCut(ThinksOnly):
        def choice(self, request: dict[str, Any]) -> dict[str, Any]:
            return {**super().choice(request), "finish_reason": "stop"}

    with TellsNoCut() as endpoint:
        _, document, _ = check(endpoint)
    named = document["models"][0]["sentence"].partition("(")[2].partition(")")[0].split(", ")
    assert named == ["answers", "stop_reason", "reasoning", "tool_result"]


def test_of_an_endpoint_that_cannot_be_reached_nothing_is_said_but_that(run_in_process: Command) -> None:
    with FitEndpoint() as closed:
        pass
    done = run_in_process("check", "openai/m", "--api-base", closed.url)
    assert done.returncode == 1
    assert "model_version" not in done.stdout
    assert " 1 call, " in done.stdout


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["check", "openai/sk-abcdefgh12345678"], "MODEL_ID"),
        (["check", "sk-abcdefgh12345678"], "MODEL_ID"),
        (["models", "sk-abcdefgh12345678"], "NAME"),
        (["check", "openai/m", "--api-key-env", "sk-abcdefgh12345678"], "--api-key-env"),
        (["check", "openai/m", "--api-key-env", "deadbeef0123456789abcdef01234567"], "--api-key-env"),
        (["check", "openai/m", "--api-key-env", "gw_B92xHcLKnVlz"], "--api-key-env"),
        (["check", "openai/m", "--api-key-env", "not a name"], "--api-key-env"),
    ],
)
def test_a_key_in_place_of_a_name_is_refused_and_not_shown(
    run_in_process: Command, words: list[str], field: str
) -> None:
    done = run_in_process(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{field}: " in done.stderr
    assert words[-1].removeprefix("openai/") not in done.stderr


def test_an_endpoint_that_hangs_is_given_up_after_the_seconds_of_a_call(check: Check) -> None:
    with Hanging() as endpoint:
        code, document, _ = check(endpoint, "--call-seconds", "1")
    assert code == 1
    assert row_of(document, "answers")["came"] == "“no reply within 1 s”"
    assert "call_seconds" in row_of(document, "answers")["advice"]
    assert len(endpoint.requests) == 1


def test_a_slow_endpoint_is_waited_for(check: Check) -> None:
    with Slow() as endpoint:
        endpoint.seconds = 0.5
        code, document, _ = check(endpoint, spec=WITHOUT)
    assert code == 0
    assert document["models"][0]["seconds"] >= 1.0


def test_keys_and_addresses_from_the_environment_are_named_and_never_shown(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FitEndpoint() as endpoint:
        _, document, errors = check(endpoint, "--api-key-env", "MY_KEY")
    named = {entry["name"]: entry["holds"] for entry in document["environment"]}
    assert (named["MY_KEY"], named["NO_PROXY"]) == ("key", "proxy")
    assert KEY not in json.dumps(document) + errors


def test_the_table_is_for_people_too(run_in_process: Command) -> None:
    with CallsAsText() as endpoint:
        done = run_in_process("check", "openai/m", "--api-base", endpoint.url)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["check", "state", "asked:", "what", "came"]
    assert any(line.startswith("tool_call") and "not fit" in line for line in lines)
    assert any("openai/m is not fit (tool_call); not fit for native tools. 5 calls" in line for line in lines)


@pytest.mark.parametrize("model", ["reference", "scripted-a"])
def test_a_built_in_model_has_no_endpoint_to_check(run_in_process: Command, model: str) -> None:
    done = run_in_process("check", model)
    assert done.returncode == 0
    assert f"{model} is not checked: a built-in" in done.stdout


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (["nope"], "MODEL_ID: 'nope' names no provider"),
        (["absent.yaml"], "SPEC: absent.yaml cannot be read"),
        (["openai/m", "--api-base", "http://elsewhere.example/v1"], "--api-base: "),
        (["openai/m", "--call-seconds", "0"], "--call-seconds"),
    ],
)
def test_what_cannot_be_checked_is_refused_by_name(
    run_in_process: Command, target: list[str], says: str
) -> None:
    done = run_in_process("check", *target)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
