"""Near-equal questions of runs made elsewhere: found by their prompts, joined, told, and never guessed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gnomon.exchange.asked_elsewhere import AskedElsewhere
from gnomon_service.cli.main import main

Trace = Mapping[str, Any]


def trace(prompt: str | list[dict[str, str]], target: object = None, choices: Sequence[str] = ()) -> Trace:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]
    return {"prompt": messages, "steps": [], "asked": {"target": target, "choices": list(choices) or None}}


def groups(asked: Mapping[str, Trace | Sequence[Trace]]) -> tuple[tuple[str, ...], ...]:
    noted = AskedElsewhere()
    for sample_id, traces in asked.items():
        for each in [traces] if isinstance(traces, Mapping) else traces:
            noted.add(sample_id, each)
    return noted.near_equal()[0].groups


def test_equal_prompts_are_one_question_and_others_are_not() -> None:
    asked = {
        "1": trace("How far is 3 from 5?"),
        "2": trace("how far  is 3 from 5"),
        "3": trace("How far is 3 from 6?"),
    }
    assert groups({**asked, "no trace": {}, "empty": trace("")}) == (("1", "2"),)


def test_options_in_another_order_make_no_other_question_nor_another_answer() -> None:
    one = trace("Where?\n\nA) left\nB) right\n\nAnswer:", "A", ("left", "right"))
    two = trace("Where?\n\nA) right\nB) left\n\nAnswer:", "B", ("right", "left"))
    noted = AskedElsewhere()
    noted.add("1", one)
    noted.add("2", two)
    found, faults = noted.near_equal()
    assert (found.groups, found.contradictions) == ((("1", "2"),), ())
    assert [fault.kind for fault in faults] == ["near_equal"]


@pytest.mark.parametrize("shown", ["<image>", "[image]", "<video>", "<|image_1|>"])
def test_what_was_shown_and_is_not_told_makes_questions_incomparable(shown: str) -> None:
    assert groups({"1": trace(f"What is it? {shown}"), "2": trace(f"What is it? {shown}")}) == ()


def test_pictures_are_told_apart_by_their_hashes_in_every_arm() -> None:
    def seeing(sha256: str) -> Trace:
        return trace([{"type": "text", "text": "What is it?"}, {"type": "image", "sha256": sha256}])

    blind = trace("What is it?")
    asked = {
        "1": seeing("aa"),
        "2": seeing("bb"),
        "3": seeing("aa"),
        "4": trace("What is it? <image/png cc>"),
    }
    assert groups(asked) == (("1", "3"),)
    assert groups({"1": [blind, seeing("aa")], "2": [blind, seeing("bb")]}) == ()


def test_prompts_that_most_samples_share_do_not_tell_what_is_asked() -> None:
    noted = AskedElsewhere()
    for number in range(5):
        noted.add(str(number), trace("Answer the question."))
    found, faults = noted.near_equal()
    assert found.groups == ()
    assert faults[0].detail.startswith("5 of 5 questions have the same prompt: the files may not tell all")


def test_equal_prompts_with_other_answers_are_told_and_join_unless_most_do() -> None:
    noted = AskedElsewhere()
    for number in range(12):
        noted.add(
            f"{number}", trace(f"How much is {number % 6} and {number % 6}?", "3" if number == 7 else "2")
        )
    found, faults = noted.near_equal()
    assert len(found.groups) == 6
    assert [fault.kind for fault in faults] == ["near_equal", "contradiction"]
    assert "'1' and '7'" in faults[1].detail
    for number in range(12):
        noted.add(f"{number}", trace(f"How much is {number % 6} and {number % 6}? Say it.", f"{number}"))
    assert noted.near_equal()[0].groups == ()


def test_an_import_joins_the_clusters_of_equal_questions_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    samples = [
        {
            "id": number,
            "epoch": 1,
            "scores": {"acc": {"value": number % 2}},
            "messages": [
                {"role": "user", "content": f"Question: how far is {min(number, 33)} from {number // 40}?"}
            ],
            "metadata": {"video": f"v{number // 2}"},
        }
        for number in range(40)
    ]
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"task": "t"}, "samples": samples}))
    with pytest.raises(SystemExit) as end:
        main(["import", f"raw={tmp_path / 'log.json'}", "--cluster", "video", "--json"])
    assert not end.value.code
    document = json.loads(capsys.readouterr().out)
    counted = "7 of 40 questions are near-equal to another (1 group): each group counts as one cluster"
    assert document["warnings"] == [f"{counted}: 33 = 34 = 35 = 36 and 3 more"]
    assert document["clusters"] == 17  # v16 to v19 became one
    with pytest.raises(SystemExit):
        main(["report", document["job_id"], "--out", str(tmp_path / "report.json")])
    report = json.loads((tmp_path / "report.json").read_text())
    assert [each["kind"] for each in report["alerts"]] == ["near_equal"]
    assert report["arms"][0]["clusters"] == 17
