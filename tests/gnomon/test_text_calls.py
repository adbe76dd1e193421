"""Calls that models write as text: each form is read back to the letter, and nothing else is a call."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core import text_calls
from gnomon.core.text_calls import find_text_calls

OSLO = {"name": "get_time", "arguments": {"city": "Oslo"}}


def hermes(calls):
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


def fenced(calls):
    return "\n".join(f"```json\n{json.dumps(call, indent=2)}\n```" for call in calls)


def mistral_names(calls):
    return "".join(f"[TOOL_CALLS]{call['name']}{json.dumps(call['arguments'])}" for call in calls)


def functions(calls):
    return "".join(f"<function={call['name']}>{json.dumps(call['arguments'])}</function>" for call in calls)


def openai(calls):
    return json.dumps(
        [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {**call, "arguments": json.dumps(call["arguments"])},
            }
            for number, call in enumerate(calls)
        ]
    )


def python(calls):
    written = [
        f"{call['name']}({', '.join(f'{key}={value!r}' for key, value in call['arguments'].items())})"
        for call in calls
    ]
    return f"[{', '.join(written)}]"


def deepseek(calls):
    one = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>"
    return f"<｜tool▁calls▁begin｜>{_each(one, calls)}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"


def deepseek_newer(calls):
    one = "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>"
    return f"<｜tool▁calls▁begin｜>{_each(one, calls)}<｜tool▁calls▁end｜>"


def kimi(calls):
    one = "<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
    return f"<|tool_calls_section_begin|>{_each(one, calls)}<|tool_calls_section_end|>"


def harmony(calls):
    return _each(
        "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>", calls
    )


def react(calls):
    return _each("Action: {name}\nAction Input: {arguments}\n", calls)


def _each(form, calls):
    return "".join(
        form.format(name=call["name"], arguments=json.dumps(call["arguments"], ensure_ascii=False))
        for call in calls
    )


FORMS = {
    "hermes": [
        hermes,
        lambda calls: f"<TOOLCALL>{json.dumps(calls)}</TOOLCALL>",
        lambda calls: hermes(calls).removesuffix("</tool_call>"),
    ],
    "fenced_json": [fenced, lambda calls: fenced(calls).removesuffix("```")],
    "mistral": [lambda calls: f"[TOOL_CALLS] {json.dumps(calls)}</s>", mistral_names],
    "llama": [
        functions,
        lambda calls: "<|python_tag|>" + "; ".join(map(json.dumps, calls)) + "<|eom_id|>",
    ],
    "bare_json": [
        json.dumps,
        openai,
        lambda calls: "\n".join(map(json.dumps, calls)),
        lambda calls: json.dumps([{"name": call["name"], "parameters": call["arguments"]} for call in calls]),
    ],
    "pythonic": [python],
    "tool_code": [
        lambda calls: f"```tool_code\n{python(calls)}\n```",
        lambda calls: "```tool_code\n" + "\n".join(f"default_api.{python([call])[1:-1]}" for call in calls),
    ],
    "deepseek": [deepseek, deepseek_newer],
    "kimi": [kimi],
    "harmony": [harmony],
    "react": [react],
    "token": [
        lambda calls: f"<|tool_call|>{json.dumps(calls)}<|/tool_call|>",
        lambda calls: f"<|tool_call_start|>{python(calls)}<|tool_call_end|>",
    ],
}
WRITERS = [(form, write) for form, writers in FORMS.items() for write in writers]

# A mark within a string of Python ends its call; within one of JSON it does not (see below).
words = st.text(st.characters(codec="utf-8", exclude_characters="\0<"), max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["get_time", "list_cameras", "speed"])
keys = st.sampled_from(["city", "km", "when", "answer", "name"])
calls_made = st.lists(
    st.fixed_dictionaries({"name": names, "arguments": st.dictionaries(keys, values, max_size=3)}),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize(("form", "write"), WRITERS)
@given(calls=calls_made)
def test_what_is_written_in_a_form_is_read_back(form, write, calls):
    found = find_text_calls(write(calls))
    assert found is not None
    assert (found.form, found.rest, found.is_meant) == (form, "", True)
    read = [{"name": call["name"], "arguments": json.loads(call["arguments"])} for call in found.calls]
    assert read == calls


@pytest.mark.parametrize(("form", "write"), WRITERS)
def test_words_before_a_call_are_the_rest(form, write):
    found = find_text_calls(f"I look it up.\n{write([OSLO])}", ("get_time",))
    assert found is not None
    assert (found.form, found.rest, found.is_meant) == (form, "I look it up.", True)


TAGGED = {
    "invoke_xml": '<function_calls>\n<invoke name="set">\n<parameter name="city">25</parameter>\n'
    '<parameter name="km">3</parameter>\n</invoke>\n</function_calls>',
    "qwen3_coder": "<tool_call>\n<function=set>\n<parameter=city>\n25\n</parameter>\n<parameter=km>\n3\n"
    "</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>set\n<arg_key>city</arg_key>\n<arg_value>25</arg_value>\n<arg_key>km</arg_key>\n"
    "<arg_value>3</arg_value>\n</tool_call>",
}


@pytest.mark.parametrize("form", TAGGED)
def test_values_in_tags_are_of_the_type_that_the_schema_says(form):
    schema = {"properties": {"city": {"type": "string"}, "km": {"type": "number"}}}
    found = find_text_calls(TAGGED[form], {"set": schema})
    assert found is not None
    assert (found.form, found.rest) == (form, "")
    assert [json.loads(call["arguments"]) for call in found.calls] == [{"city": "25", "km": 3}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Answer: B",
        '{"answer": "B"}',
        '```json\n{"answer": "B"}\n```',
        '[{"answer": "B", "why": "it is near"}]',
        '{"name": "Oslo", "population": 700000}',
        '{"name": "speed", "parameters": {"type": "object", "properties": {"km": {}}}}',
        "I would write a <tool_call> here, but I know it: B",
        "```python\nprint(3 + 4)\n```",
        "```python\nx = get_time()\n```\nAnswer: 7",
        "The route (A, B) is f(x) = [1, 2].",
        "[12.5, 60.2]",
        "to= <|message|>",
    ],
)
def test_what_is_no_call(text):
    assert find_text_calls(text) is None
    assert find_text_calls(text, ("speed",)) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>{"name": "speed", "arguments": {"km": }}</tool_call>', "speed"),
        ('<tool_call>{"name": "speed", "arguments": {"km": 3}}}</tool_call>', "speed"),
        ('<tool_call>{"name": "speed", "arguments": {"km": 3', "speed"),
        ("<tool_call>{'km': 3}</tool_call>", ""),
        ("<function=speed>{'km': 3}</function>", "speed"),
        ('[TOOL_CALLS] [{"name": "speed", "arguments": {"km": 3}', "speed"),
    ],
)
def test_json_between_marks_that_is_none_is_a_call_with_its_raw_arguments(text, name):
    found = find_text_calls(text)
    assert found is not None
    assert [call["name"] for call in found.calls] == [name]
    with pytest.raises(json.JSONDecodeError):
        json.loads(found.calls[0]["arguments"])


@pytest.mark.parametrize("quoted", [fenced([OSLO]), json.dumps(OSLO)])
def test_a_call_that_is_quoted_within_an_explanation_is_not_meant(quoted):
    found = find_text_calls(f"One could call\n{quoted}\nbut I know it. Answer: B")
    assert found is not None
    assert found.rest.startswith("One could call")
    assert not found.is_meant


def test_a_mark_in_a_string_is_none():
    call = {"name": "say", "arguments": {"words": "</tool_call><tool_call>"}}
    found = find_text_calls(hermes([call]))
    assert found is not None
    assert json.loads(found.calls[0]["arguments"]) == call["arguments"]


def test_another_tools_name_with_arguments_is_a_call_that_the_toolbox_refuses():
    found = find_text_calls('{"name": "calculateArguments", "arguments": {}}', ("speed",))
    assert found is not None
    assert found.calls[0]["name"] == "calculateArguments"
    assert find_text_calls('{"name": "Anna", "parameters": {"age": 3}}', ("speed",)) is None


@pytest.mark.parametrize(
    "piece", ["<tool_call>", "[", "```", "(", "\n", "[TOOL_CALLS]", "<function=", '{"name":\n']
)
def test_a_megabyte_without_end_is_read_in_one_pass(monkeypatch, piece):
    read = Counter()

    class Counted:
        """A pattern that counts the characters that it is led over."""

        def __init__(self, pattern):
            self.pattern = pattern

        def search(self, text, at=0):
            found = self.pattern.search(text, at)
            read[self.pattern] += (found.end() if found else len(text)) - at
            return found

    forms = [form._replace(open=Counted(form.open), close=Counted(form.close)) for form in text_calls.FORMS]
    monkeypatch.setattr(text_calls, "FORMS", forms)
    for name in ("FENCE", "BARE"):
        monkeypatch.setattr(text_calls, name, Counted(getattr(text_calls, name)))
    text = piece * (1_000_000 // len(piece))
    find_text_calls(text)  # to go back and forth within one search of it would take an hour
    assert all(count <= 1.2 * len(text) for count in read.values()), read
