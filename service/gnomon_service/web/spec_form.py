"""Turns a job's spec into the fields of a form, and what was typed there back into the spec.

The spec, as YAML, is what counts: a form field changes one place in it and leaves the rest as it was. Fields
have the names that the spec's own paths have, such as `models.0.id`, so a fault is shown where it belongs.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

import yaml
from starlette.datastructures import FormData

from gnomon.benchmarks.questions.columns import COLUMNS as OWN_COLUMNS
from gnomon.core.arm import Results, ToolNaming, ToolOrder, Wording
from gnomon.core.benchmark import BENCHMARKS, ReadsOwnFiles
from gnomon.core.errors import SpecError
from gnomon.core.sample import Transform
from gnomon.spec.job_spec import JobSpec
from gnomon_service.tool_servers import server_text, written_server
from gnomon_tools.core.toolbox import TOOLS

Written = dict[str, Any]
NUMBER = re.compile(r"-?\d{1,15}")
FRACTION = re.compile(r"-?\d{1,12}\.\d{1,9}")
TEXTS = ("name", "benchmark", "data")
NUMBERS = ("select.limit", "select.seed", "repeats", "concurrency", "limits.usd")
LISTS = ("select.tasks", "select.scenes")
OWN_QUESTIONS = "questions"  # the benchmark of uploads
PRICES = ("price.input", "price.output")
MODEL_FIELDS = ("id", "api_key_env", "api_base", *PRICES)
COLUMNS = tuple(f"columns.{name}" for name in (*OWN_COLUMNS, *"ABCDEF"))
SCORER = "scorer"
ARM_FIELDS = ("name", "agent", "max_tool_calls")
CONDITIONS = {  # of an arm, the usual one first
    "results": get_args(Results),
    "transform": ("none", *get_args(Transform)),
    "wording": get_args(Wording),
    "tool_names": get_args(ToolNaming),
    "tool_order": get_args(ToolOrder),
    "confidence": ("no", "yes"),
}
SEQUENTIAL = "analysis.sequential"
DEFAULT: Written = {
    "name": "tools on generated worlds",
    "benchmark": "worlds",
    "select": {"limit": 280, "seed": 7},
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": "all", "max_tool_calls": 12},
    ],
}
USUAL_SELECT = DEFAULT["select"]  # of questions that are made: those of files are all asked
LEFT_OUT = ("contract",)  # of an arm: written by hand it would demand the tools of another version


def spec_as_written(spec: JobSpec) -> Written:
    """A stored spec as somebody would have written it: what is as usual is left out."""
    written = spec.model_dump(mode="json", exclude_defaults=True)
    if not written.get("decoding"):
        written.pop("decoding", None)
    for arm in written["arms"]:
        for name in LEFT_OUT:
            arm.pop(name, None)
        if tuple(arm.get("tools", ())) == TOOLS.working_names():
            arm["tools"] = "all"
        elif not arm.get("tools"):
            arm.pop("tools", None)
    return written


def as_yaml(written: object) -> str:
    """The spec as YAML, its fields in the order in which they were written.

    >>> print(as_yaml({"benchmark": "worlds", "models": [{"id": "reference"}]}))
    benchmark: worlds
    models:
    - id: reference
    <BLANKLINE>
    """
    return yaml.safe_dump(written, sort_keys=False, allow_unicode=True, width=100)


def form_of(written: object) -> dict[str, Any]:
    """What the form shows of a spec, however it was written; what has no place in the form is not in it."""
    spec = written if isinstance(written, Mapping) else {}
    arms = spec.get("arms")
    preset = str(arms.get("preset", "")) if isinstance(arms, Mapping) else ""
    return {
        "values": {name: _text(_at(spec, name)) for name in (*TEXTS, *NUMBERS, *COLUMNS, SCORER)}
        | {SEQUENTIAL: _choice(_at(spec, SEQUENTIAL), "no")},
        "lists": {name: [str(item) for item in _list(_at(spec, name))] for name in LISTS},
        "preset": preset,
        "servers": _servers_of(_tools(arms)) if preset else [],
        "models": [
            {name: _text(_at(model, name)) for name in MODEL_FIELDS} for model in _list(spec.get("models"))
        ],
        "arms": [] if preset else [_arm_of(arm) for arm in _list(arms)],
    }


def _arm_of(arm: object) -> dict[str, Any]:
    tools = _tools(arm)
    chosen = [str(name) for name in tools if not isinstance(name, Mapping)]
    word = "all" if "all" in chosen else "chosen" if isinstance(_at(arm, "tools"), list) else "none"
    return {
        **{name: _text(_at(arm, name)) for name in ARM_FIELDS},
        **{name: _choice(_at(arm, name), usual) for name, (usual, *_) in CONDITIONS.items()},
        "tools": word,
        "chosen": chosen,
        "servers": _servers_of(tools),
    }


def _tools(holder: object) -> list[Any]:
    """What an arm, or a preset's options, writes as its tools, each by itself."""
    tools = _at(holder, "tools")
    return [tools] if tools == "all" or isinstance(tools, Mapping) else _list(tools)


def _servers_of(tools: Sequence[object]) -> list[dict[str, str]]:
    """The servers among tools: each as one line, and which of its tools are offered."""
    servers = []
    for entry in tools:
        if isinstance(entry, Mapping):
            include = _list(entry.get("include"))
            rest = {name: value for name, value in entry.items() if name != "include"} if include else entry
            servers.append({"server": server_text(rest), "include": ", ".join(map(str, include))})
    return servers


def _choice(value: object, usual: str) -> str:
    """What a field with choices shows: yes or no for a switch, and the usual where nothing is written.

    >>> _choice(True, "no"), _choice(None, "original"), _choice("plain", "original")
    ('yes', 'original', 'plain')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _text(value) or usual


def _put_choice(spec: Written, path: str, chosen: str, usual: str) -> None:
    """Set a field with choices; the usual one is not written."""
    value = True if chosen == "yes" else "" if chosen == usual else chosen
    _put(spec, path, value)


def changed(before: object, posted: FormData) -> Written:
    """The spec with what the form says now."""
    spec: Written = dict(before) if isinstance(before, Mapping) else {}
    last = _text(spec.get("benchmark"))
    for name in TEXTS:
        _put(spec, name, str(posted.get(name, "")).strip())
    for name in NUMBERS:
        _put(spec, name, _number(str(posted.get(name, ""))))
    if SEQUENTIAL in posted:
        _put_choice(spec, SEQUENTIAL, str(posted[SEQUENTIAL]), "no")
    for name in (*COLUMNS, SCORER):
        # What no select can say, such as a list of columns, stays as long as its text does.
        if name in posted and posted[name] != _text(_at(spec, name)):
            _put(spec, name, str(posted[name]))
    for name in LISTS:
        _put(spec, name, [str(item) for item in posted.getlist(name)])
    if last and _text(spec.get("benchmark")) not in ("", last):
        _suit_benchmark(spec, last)
    spec["models"] = _models(_list(spec.get("models")), posted)
    spec["arms"] = _arms(spec.get("arms"), posted)
    return spec


def _suit_benchmark(spec: Written, last: str) -> None:
    """Drop what belonged to the last benchmark: its data and tasks, and name and size if they were usual."""
    name = _text(spec["benchmark"])
    if _text(spec.get("name")) in ("", DEFAULT["name"], _usual_name(last)):
        spec["name"] = _usual_name(name)
    for of_the_file in ("data", "columns", SCORER):
        spec.pop(of_the_file, None)
    plugin = BENCHMARKS.find(name)
    made = plugin is not None and not plugin.needs_data
    _put(spec, "select", dict(USUAL_SELECT) if made else "")


def _usual_name(benchmark: str) -> str:
    return str(DEFAULT["name"]) if benchmark == DEFAULT["benchmark"] else f"tools on {benchmark}"


def with_upload(written: object, data: str, columns: Collection[str]) -> Written:
    """The spec with the questions of an upload; of the columns that it named those stay which that has."""
    spec: Written = dict(written) if isinstance(written, Mapping) else {}
    if not isinstance(BENCHMARKS.find(_text(spec.get("benchmark"))), ReadsOwnFiles):
        last, spec["benchmark"] = _text(spec.get("benchmark")), OWN_QUESTIONS
        _suit_benchmark(spec, last)
    spec["data"] = data
    spec.pop("data_sha256", None)
    named = spec.get("columns")
    fitting = (
        {name: column for name, column in named.items() if column in columns}
        if isinstance(named, Mapping)
        else {}
    )
    _put(spec, "columns", fitting or "")
    return spec


def blank_entry(written: object) -> str:
    """What is still to be typed into a row that was added; empty where nothing is."""
    spec = written if isinstance(written, Mapping) else {}
    if any(_at(model, "id") == "" for model in _list(spec.get("models"))):
        return "Type the new model, such as openai/gpt-5-mini."
    arms = spec.get("arms")
    for holder in [arms] if isinstance(arms, Mapping) else _list(arms):
        if any(_at(entry, "mcp.command") == [] for entry in _tools(holder)):
            return "Type the new tool server: its command line, such as npx -y my-server, or its address."
    return ""


def _models(before: Sequence[object], posted: FormData) -> list[Written]:
    models = []
    for at in range(_rows(posted, "models", "id")):
        model: Written = _mapping_at(before, at)
        for name in MODEL_FIELDS:
            text = str(posted.get(f"models.{at}.{name}", "")).strip()
            _put(model, name, _number(text) if name in PRICES else text)
        if model and not _is_removed(posted, "models", at):
            models.append(model)
    return [*models, {"id": ""}] if posted.get("add", "") == "models" else models


def _arms(before: object, posted: FormData) -> object:
    preset = str(posted.get("preset", ""))
    if preset:
        options = dict(before) if isinstance(before, Mapping) and before.get("preset") == preset else {}
        options |= {"preset": preset}
        names = [tool for tool in _tools(options) if not isinstance(tool, Mapping)]
        _put(options, "tools", [*names, *_servers(_tools(options), posted, "arms")])
        return options
    if isinstance(before, Mapping):  # the form had no rows: it begins with the usual ones
        return [dict(arm) for arm in DEFAULT["arms"]]
    arms = []
    for at in range(_rows(posted, "arms", "name")):
        arm: Written = _mapping_at(_list(before), at)
        _put(arm, "name", str(posted.get(f"arms.{at}.name", "")).strip())
        agent = str(posted.get(f"arms.{at}.agent", "")).strip()
        if agent or not isinstance(arm.get("agent"), Mapping):  # one from outside has no name to choose
            _put(arm, "agent", agent)
        word = str(posted.get(f"arms.{at}.tools", "none"))
        chosen = [str(name) for name in posted.getlist(f"arms.{at}.chosen")]
        servers = _servers(_tools(arm), posted, f"arms.{at}")
        _put(arm, "tools", "all" if word == "all" else "")
        if word == "chosen" or servers:
            arm["tools"] = [*(["all"] if word == "all" else chosen if word == "chosen" else []), *servers]
        _put(arm, "max_tool_calls", _number(str(posted.get(f"arms.{at}.max_tool_calls", ""))))
        for name, (usual, *_) in CONDITIONS.items():
            if f"arms.{at}.{name}" in posted:
                _put_choice(arm, name, str(posted[f"arms.{at}.{name}"]), usual)
        if not _is_removed(posted, "arms", at):
            arms.append(arm)
    if posted.get("add", "") == "arms":
        arms.append({"name": f"arm {len(arms) + 1}", "agent": "react", "tools": "all"})
    return arms


def _servers(before: Sequence[object], posted: FormData, holder: str) -> list[Written]:
    """The servers of an arm, or of a preset's options, as the form has them; one without text is removed."""
    kind = f"{holder}.servers"
    servers = [dict(entry) for entry in before if isinstance(entry, Mapping)]
    shown = _rows(posted, kind, "server")
    typed = []
    for at in range(shown):
        text, include = (str(posted.get(f"{kind}.{at}.{name}", "")).strip() for name in ("server", "include"))
        if text and not _is_removed(posted, kind, at):
            typed.append(_server(text, include))
    if posted.get("add", "") == kind:
        typed.append({"mcp": {"command": []}})
    return typed + servers[shown:]


def _server(text: str, include: str) -> Written:
    try:
        server = written_server(text)
    except SpecError:
        server = {"mcp": text}  # for the spec's own rules to refuse
    names = [name for part in include.split(",") if (name := part.strip())]
    return {**server, "include": names} if names else server


def _rows(posted: FormData, kind: str, field: str) -> int:
    count = 0
    while f"{kind}.{count}.{field}" in posted:
        count += 1
    return count


def _is_removed(posted: FormData, kind: str, at: int) -> bool:
    return str(posted.get("remove", "")) == f"{kind}.{at}"


def _mapping_at(items: Sequence[object], at: int) -> Written:
    item = items[at] if at < len(items) else None
    return dict(item) if isinstance(item, Mapping) else {}


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _at(spec: object, path: str) -> object:
    value = spec
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _put(spec: Written, path: str, value: object) -> None:
    """Set a place in the spec, or clear it where the value is empty; emptied mappings go too."""
    first, _, rest = path.partition(".")
    if not rest:
        if value in ("", None, []):
            spec.pop(first, None)
        else:
            spec[first] = value
        return
    inner = dict(spec[first]) if isinstance(spec.get(first), Mapping) else {}
    _put(inner, rest, value)
    if inner:
        spec[first] = inner
    else:
        spec.pop(first, None)


def _number(text: str) -> int | float | str:
    """A number where it is one; else what was typed, for the spec's own rules to refuse.

    >>> _number("280"), _number(" 2.5 "), _number("many"), _number("")
    (280, 2.5, 'many', '')
    """
    text = text.strip().replace(",", "")
    if NUMBER.fullmatch(text):
        return int(text)
    return float(text) if FRACTION.fullmatch(text) else text


def _text(value: object) -> str:
    return "" if value is None else str(value)
