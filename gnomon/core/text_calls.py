"""Finds calls of tools that a model has written as text.

No kept library does this for any reply: the parsers of vLLM, SGLang and llama.cpp live inside their engines,
are chosen by the model's name and drop what they cannot parse. The marks that they read are in
`text_call_forms.py`.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gnomon.core.message import FunctionCall
from gnomon.core.text_call_forms import (
    BARE,
    FENCE,
    FORMS,
    LEFT_OVER,
    NAME,
    NAME_IN_JSON,
    PARAMETER,
    PYTHON,
    Form,
)
from gnomon_tools.core import python_source

_MAX_MARKS = 1_000  # of one form; what comes after them stays text
_MAX_PYTHON = 100_000  # characters
_FILLING = " \t\r\n,;`"  # around what stands between marks


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCalls:
    """Calls in a reply's text: the name of their form, the calls, and what the text says beside them.

    `is_meant`: they are marked as calls, or nothing follows them. A call without marks that stands within an
    explanation is not.
    """

    form: str
    calls: tuple[FunctionCall, ...]
    rest: str
    is_meant: bool = True


class _Span(NamedTuple):
    start: int
    end: int
    calls: Sequence[FunctionCall]


_BETWEEN = re.compile(r"[\s,;]*")
# Python's parser warns of these, on standard error.
_WARNED_OF = re.compile(r"(?<!\\)(?:\\\\)*\\[^\\'\"abfnrtvxuUN0-7\n]|\d(?:and|else|for|if|in|is|not|or)\b")
_NAME_KEYS = ("name", "tool_name", "tool", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_OWN_KEYS = frozenset({"id", "type", "index", "tool_call_id", "name", "arguments", "parameters", "function"})
_JSON = json.JSONDecoder()
_JSON_WORDS = {"true": True, "false": False, "null": None}


def find_text_calls(text: str, names: Collection[str] = ()) -> TextCalls | None:
    """The calls that a text holds, all of one form; None where it holds none.

    `names` are those of the tools on offer; a mapping has the JSON schema of each one's arguments, by which
    forms without types are read. Between clear marks all counts as a call: JSON that is none as its raw
    arguments, for the toolbox to refuse; nothing is repaired. JSON without marks is one if it has a name and
    arguments; in a shape that other data may have as well, only if the name is one of `names`.
    """
    for form in FORMS if "<" in text or "[TOOL_CALLS]" in text or "Action Input:" in text else ():
        if any(sign in text for sign in form.signs) and (spans := list(_marked(text, form, names))):
            return _found(text, form.name, spans, is_marked=True)
    if "```" in text and (fenced := list(_fenced(text, names))):
        form_name = fenced[0][0]
        return _found(text, form_name, [span for form_of, span in fenced if form_of == form_name])
    may_call = "{" in text and any(f'"{key}"' in text for key in _ARGUMENT_KEYS)
    if may_call and (spans := list(_bare_json(text, names))):
        return _found(text, "bare_json", spans)
    if "(" in text and (spans := list(_bare_python(text, names))):
        return _found(text, "pythonic", spans)
    return None


def _found(text: str, form: str, spans: Sequence[_Span], *, is_marked: bool = False) -> TextCalls:
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    beside = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return TextCalls(
        form=form,
        calls=tuple(call for span in spans for call in span.calls),
        rest=_without_marks(beside),
        is_meant=is_marked or not _without_marks(text[spans[-1].end :]),
    )


def _without_marks(text: str) -> str:
    return LEFT_OVER.sub("", text).strip()


def _marked(text: str, form: Form, names: Collection[str]) -> Iterator[_Span]:
    """The calls between a form's marks. A mark that stands in a string of JSON is none; one that is never
    closed ends where the next begins.
    """
    opened = form.open.search(text)
    close_start = close_end = -1
    for _ in range(_MAX_MARKS):
        if opened is None:
            return
        begin, name = opened.end(), opened[1] if opened.re.groups else None
        values, end = _json_values(text, begin)
        searched_from = end if values else begin
        if close_start < searched_from:
            closing = form.close.search(text, searched_from)
            close_start, close_end = closing.span() if closing else (len(text), len(text))
        following = form.open.search(text, searched_from)
        limit = following.start() if following else len(text)
        is_closed = close_start < min(limit + 1, len(text))
        if not (values and (not is_closed or not text[end:close_start].strip(_FILLING))):
            values, end = [], min(close_start, limit)
        payload = text[begin:end].strip(_FILLING)
        calls = (
            _named(name, payload, names) if name else _unnamed(payload, values, names, is_closed=is_closed)
        )
        if calls:
            yield _Span(opened.start(), close_end if is_closed else end, calls)
        opened = following


def _named(name: str, payload: str, names: Collection[str]) -> list[FunctionCall]:
    """The call of that name: with parameters in tags, or whatever else stands there as its arguments."""
    name = _own_name(name, names)
    schema = names.get(name) if isinstance(names, Mapping) else None
    arguments = {
        (match[1] or match[3]).strip(): _value(
            match[2] if match[1] else match[4], schema, match[1] or match[3]
        )
        for match in PARAMETER.finditer(payload)
        if not payload.startswith(("{", "["))
    }
    if arguments:
        return [_call(name, arguments)]
    return [{"name": name, "arguments": payload or "{}"}]


def _value(written: str, schema: Any, name: str) -> Any:
    """A parameter's value: text where the schema takes text, else what it is as JSON."""
    written = written.removeprefix("\n").removesuffix("\n")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    own = properties.get(name.strip()) if isinstance(properties, Mapping) else None
    if isinstance(own, Mapping) and "string" in _types(own):
        return written
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _types(schema: Mapping[str, Any]) -> set[str]:
    choices = [schema, *(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    types = [choice.get("type") for choice in choices if isinstance(choice, Mapping)]
    texts = [value for value in schema.get("enum") or () if isinstance(value, str)]
    listed = {str(name) for kind in types for name in (kind if isinstance(kind, list) else [kind])}
    return listed | ({"string"} if texts else set())


def _unnamed(
    payload: str, values: Sequence[Any], names: Collection[str], *, is_closed: bool
) -> Sequence[FunctionCall]:
    """The calls between marks that name none. Empty if the marks enclose prose and no call."""
    if values:
        return [call for value in values for call in _calls_of(value, names, is_marked=True)]
    if payload.startswith(("{", "[{")):
        named = NAME_IN_JSON.search(payload)
        return [{"name": _own_name(named[1], names) if named else "", "arguments": payload}]
    if is_closed and re.fullmatch(NAME, payload):
        return [{"name": payload, "arguments": "{}"}]
    return _python_calls(payload, names)


def _fenced(text: str, names: Collection[str]) -> Iterator[tuple[str, _Span]]:
    """The fences that hold calls and nothing else, each with the name of its form."""
    opened = FENCE.search(text)
    for _ in range(_MAX_MARKS):
        if opened is None:
            return
        values, end = _json_values(text, opened.end())
        close = text.find("```", end if values else opened.end())
        close = len(text) if close < 0 else close
        calls: Sequence[FunctionCall] = []
        form, language = "fenced_json", opened[1].lower()
        if values and not text[end:close].strip():
            calls = _all_calls(values, names)
        elif not values and language in ("tool_code", "python", "py", ""):
            form = "tool_code"
            calls = _python_calls(text[opened.end() : close], names)
            if language != "tool_code" and any(call["name"] not in names for call in calls):
                calls = []
        if calls:
            yield form, _Span(opened.start(), min(close + 3, len(text)), calls)
        opened = FENCE.search(text, close + 3)


def _bare_json(text: str, names: Collection[str]) -> Iterator[_Span]:
    """The calls that begin a line as JSON. Within JSON that is none nothing is looked for."""
    begun = BARE.search(text)
    for _ in range(_MAX_MARKS):
        if begun is None:
            return
        values, end = _json_values(text, begun.end())
        if calls := _all_calls(values, names):
            yield _Span(begun.end(), end, calls)
        begun = BARE.search(text, max(end, begun.end() + 1))


def _bare_python(text: str, names: Collection[str]) -> Iterator[_Span]:
    """The calls, as Python's, from the first line that begins with one to the end."""
    for match in PYTHON.finditer(text):
        if _own_name(match[2], names) in names or (match[1] and not names):
            calls = _python_calls(text[match.start() :], names)
            if calls and (not names or all(call["name"] in names for call in calls)):
                yield _Span(match.start(), len(text), calls)
            return


def _json_values(text: str, at: int) -> tuple[list[Any], int]:
    """The objects and lists of JSON that stand there, one after another, and where they end; none, and where
    the first is broken, if it is none.
    """
    values: list[Any] = []
    end = at
    while text[at : at + 1] in ("{", "["):
        try:
            value, end = _JSON.raw_decode(text, at)
        except json.JSONDecodeError as error:
            return values, end if values else error.pos
        except (ValueError, RecursionError):  # a number without end, or too deep
            return values, end if values else len(text)
        values.append(value)
        between = _BETWEEN.match(text, end)
        at = between.end() if between else end
    return values, end


def _all_calls(values: Sequence[Any], names: Collection[str]) -> list[FunctionCall]:
    """The calls that values without marks stand for; none if one of them is none."""
    calls = [_calls_of(value, names, is_marked=False) for value in values]
    return [call for of_value in calls for call in of_value] if all(calls) else []


def _calls_of(value: Any, names: Collection[str], *, is_marked: bool) -> list[FunctionCall]:
    """The calls that a value of JSON stands for: an object, or a list of them; none if a part is none."""
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    calls = [_call_of(item, names, is_marked=is_marked) for item in items]
    return [call for call in calls if call is not None] if None not in calls else []


def _call_of(item: Any, names: Collection[str], *, is_marked: bool) -> FunctionCall | None:
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("function"), dict):
        item = {**item, **item["function"], "function": None}
    name_key = next((key for key in _NAME_KEYS if isinstance(item.get(key), str)), "")
    key = next((key for key in _ARGUMENT_KEYS if isinstance(item.get(key), dict | str)), "")
    if is_marked:
        if not name_key:
            return {"name": "", "arguments": json.dumps(item, ensure_ascii=False)}
        return _call(_own_name(item[name_key], names), item.get(key, {}))
    if not name_key or not key or (isinstance(item[key], str) and not item[key].lstrip().startswith("{")):
        return None
    name = _own_name(item[name_key], names)
    if name not in names:
        usual = ("arguments",) if names else ("arguments", "parameters")
        if name_key != "name" or key not in usual or not item.keys() <= _OWN_KEYS:
            return None
    if isinstance(item[key], dict) and {"type", "properties"} <= item[key].keys():
        return None  # the tool's schema said again
    return _call(name, item[key])


def _call(name: str, arguments: Any) -> FunctionCall:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"name": name, "arguments": written}


def _own_name(name: str, names: Collection[str]) -> str:
    """The tool's name without what forms put around it: `functions.`, a number, Llama's `.call`.

    >>> _own_name("functions.speed:0", ()), _own_name("speed.call", ())
    ('speed', 'speed')
    """
    name = name.strip()
    return name if name in names else re.sub(r"^(?:functions|default_api)\.|:\d+$|\.call$", "", name)


def _python_calls(source: str, names: Collection[str]) -> list[FunctionCall]:
    """The calls that a piece of Python is made of, printed or in a list; none if it is anything else."""
    source = source.strip()
    if not PYTHON.match(source) or len(source) > _MAX_PYTHON or _WARNED_OF.search(source):
        return []
    try:
        statements = python_source.parse(source).body
        nodes = [node for statement in statements for node in _nodes_of(statement)]
        calls = [_python_call(node, names) for node in nodes]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return []
    return [call for call in calls if call is not None] if None not in calls else []


def _nodes_of(statement: ast.stmt) -> list[ast.expr | None]:
    if not isinstance(statement, ast.Expr):
        return [None]
    value = statement.value
    return [*value.elts] if isinstance(value, ast.List | ast.Tuple) else [value]


def _python_call(node: ast.expr | None, names: Collection[str]) -> FunctionCall | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    written = ast.unparse(node.func)
    if written == "print" and "print" not in names and len(node.args) == 1:
        return _python_call(node.args[0], names)
    name = _own_name(written, names)
    pairs = [(keyword.arg, _with_json_words(keyword.value)) for keyword in node.keywords]
    try:
        if node.args or any(key is None for key, _ in pairs):
            raise ValueError("without names nobody knows which arguments they are")
        arguments = {key: ast.literal_eval(value) for key, value in pairs}
        return _call(name, arguments)
    except (ValueError, TypeError):  # no literals, or no JSON: the toolbox says so
        return {"name": name, "arguments": ", ".join(map(ast.unparse, [*node.args, *node.keywords]))}


def _with_json_words(node: ast.expr) -> ast.expr:
    """The expression with `true`, `false` and `null` as Python has them."""

    class Words(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return ast.Constant(_JSON_WORDS[name.id]) if name.id in _JSON_WORDS else name

    changed: ast.expr = Words().visit(node)
    return changed
