"""Facts about traces in turns, and about results as tables."""

from typing import Any

from gnomon.traces.result_table import result_table
from gnomon.traces.turns import prompt_pictures, prompt_texts, read_turns


def reply(text: str = "", *calls: str) -> dict[str, Any]:
    wishes = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in calls
    ]
    return {"kind": "reply", "text": text, "tool_calls": wishes, "wall_s": 0.5}


def tool(name: str, arguments: str = "{}", observation: str = "{}") -> dict[str, Any]:
    return {
        "kind": "tool",
        "name": name,
        "arguments": arguments,
        "observation": observation,
        "error": None,
        "wall_s": 0.25,
    }


def test_calls_and_notes_belong_to_the_reply_before_them() -> None:
    steps = [reply("look", "a", "b"), tool("a"), tool("b"), {"kind": "note", "text": "late"}, reply("C")]
    first, last = read_turns({"steps": steps})
    assert [call.name for call in first.calls] == ["a", "b"]
    assert first.notes == ["late"]
    assert first.total_s == 1.0
    assert (last.number, last.text, last.calls) == (2, "C", [])


def test_a_call_knows_its_place_among_all_steps() -> None:
    turns = read_turns({"steps": [reply("", "a"), tool("a"), reply("", "b"), tool("b")]})
    assert [call.step for turn in turns for call in turn.calls] == [1, 3]


def test_a_call_that_was_wished_for_but_not_run_stays_known() -> None:
    (turn,) = read_turns({"steps": [reply("", "a")]})
    assert turn.wishes == (("a", "{}"),)
    assert turn.calls == []


def test_odd_traces_are_read_as_far_as_they_go() -> None:
    assert read_turns({}) == ()
    assert read_turns({"steps": None}) == ()
    (turn,) = read_turns({"steps": ["nonsense", {"kind": "reply", "text": {"a": 1}}]})
    assert turn.text == '{"a": 1}'


def test_the_prompt_is_texts_and_pictures_in_order() -> None:
    blocks = [{"type": "text", "text": "Where?"}, {"type": "image", "sha256": "ab"}]
    trace = {"prompt": [{"role": "system", "content": "Be short."}, {"role": "user", "content": blocks}]}
    assert prompt_texts(trace) == ["Be short.", "Where?", "[picture ab]"]
    assert prompt_pictures(trace) == ["ab"]


def test_a_result_without_records_is_facts_alone() -> None:
    table = result_table('{"distance_m": 3.0, "inside": true, "path": [1, 2]}')
    assert table is not None
    assert table.facts == (("distance, m", "3"), ("inside", "yes"), ("path", "1, 2"))
    assert table.rows == ()


def test_columns_that_are_empty_in_every_row_are_left_out() -> None:
    table = result_table('{"rows": [{"a": 1, "problem": null}, {"a": 2}]}')
    assert table is not None
    assert table.columns == ("a",)


def test_long_lists_are_cut_and_counted() -> None:
    rows = ", ".join('{"a": 1}' for _ in range(50))
    table = result_table(f'{{"rows": [{rows}]}}')
    assert table is not None
    assert (len(table.rows), table.more) == (40, 10)


def test_what_is_no_object_has_no_table() -> None:
    assert [result_table(text) for text in ("no", "[1]", "3", "")] == [None] * 4
