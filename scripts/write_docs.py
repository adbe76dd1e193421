"""Writes the parts of the docs that are made from the modules: `make docs`.

Each part stands in its page between two marks, `<!-- made from …: NAME -->` and `<!-- end of NAME -->`. The
text comes from what a tool, an agent, a preset, a benchmark or a field of a spec declares, and from its
module's docstring: its first line is the summary, what follows it is the text of the page. All else in these
pages is written by hand.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

import gnomon.api
from gnomon.core.agent import AGENTS, CallsInWords, CountsModelCalls, model_calls
from gnomon.core.arm import Arm
from gnomon.core.benchmark import ABILITIES, BENCHMARKS, Benchmark, SupportsOptions
from gnomon.core.row import ROW_COLUMNS, Row, RowColumn
from gnomon.exchange.row_file import row_line
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import PRESETS, Preset, PresetOptions, plan_arms
from gnomon_service.api.documentation import parts_of_spec
from gnomon_tools.core.schema_fields import fields_of, range_words
from gnomon_tools.core.tool import Tool
from gnomon_tools.core.toolbox import TOOLS
from scripts import limits
from scripts.marked_text import with_text_between

DOCS = Path(__file__).parents[1] / "docs"
UNWRITTEN = {
    "Listing",
    "ListedTool",
    "PluginPin",
    "MarginForm",
}  # parts that freezing sets or another part has
NONE = re.compile(r"; null: (none|no|not|it does not|they do not|nothing)\b[^;:.]*\.$")  # goes without saying
BENCHMARK = "worlds"  # whose tools and oracle the presets' prices count


def paragraphs(*texts: str) -> str:
    r"""The texts that are not empty, as paragraphs, and a last empty line.

    >>> paragraphs("One.", "", "Two.")
    'One.\n\nTwo.\n\n'
    """
    return "".join(f"{text}\n\n" for text in texts if text)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def calls_text(ends: tuple[int, int]) -> str:
    """Two ends of a range in words.

    >>> calls_text((1, 1)), calls_text((4, 1040))
    ('1', '4 to 1,040')
    """
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,} to {ends[1]:,}"


# Tools


def kind_of(tool: Tool[Any]) -> str:
    """What the tool works on, as the marks of docs/tools.md call it."""
    return "nothing" if tool.needs is None else tool.needs.__name__


def kinds_of_tools() -> list[str]:
    """What our tools work on, each kind once: docs/tools.md has a part for each."""
    return sorted({kind_of(tool) for tool in TOOLS.own()})


def tools_part(kind: str) -> str:
    """The part of docs/tools.md about the tools that work on this."""
    return "".join(tool_section(tool) for tool in TOOLS.own() if kind_of(tool) == kind)


def tool_section(tool: Tool[Any]) -> str:
    """A tool's section: what it tells, its call, its results and their error."""
    parameters = tool.schema()["function"]["parameters"]
    results = (f"`{field.name}`" for field in fields_of(tool.result_schema()) if field.depth == 0)
    return paragraphs(
        f"### `{tool.name}`",
        TOOLS.summary(tool.name),
        f"`{signature(tool.name, parameters)}` gives {', '.join(results)}.",
        " ".join(filter(None, (error_text(TOOLS.details(tool.name)), _batch(tool)))),
    )


def error_text(details: str) -> str:
    r"""The sentence of a tool's method that says how exact its results are.

    >>> error_text("The plane.\n\nError: none, at 0.5 m,\nas given. Moreover.\n\nMore.")
    'Error: none, at 0.5 m, as given.'
    """
    errors = (" ".join(text.split()) for text in details.split("\n\n") if text.startswith("Error: "))
    return re.split(r"(?<=\.) ", next(errors, ""))[0]


def signature(name: str, parameters: Mapping[str, Any]) -> str:
    """The call as Python would write it; what may be left out has its default.

    >>> signature("f", {"properties": {"a": {}, "b": {"default": 0}, "c": {}}, "required": ["a"]})
    'f(a, b=0, c=None)'
    """
    required = parameters.get("required", ())
    arguments = (
        field if field in required else f"{field}={schema.get('default')!r}"
        for field, schema in parameters["properties"].items()
    )
    return f"{name}({', '.join(arguments)})"


def _batch(tool: Tool[Any]) -> str:
    """The columns that a tool's batch form takes and gives; nothing where it has none."""
    if tool.batch is None:
        return ""
    takes, gives = (
        ", ".join(f"`{name}`" for name in names) for names in (tool.batch.kinds(), tool.batch.gives)
    )
    return f"[In batches](#in-batches): {takes} give {gives}."


# Agents


def agents_table() -> str:
    """All agents: whether they run tools, their calls of the model, what they do."""
    rows = []
    for agent in AGENTS.own():
        arm = Arm(name="an arm", agent=agent.name, tools=("speed",) if agent.uses_tools else ())
        rows.append(
            (
                f"[`{agent.name}`](#{agent.name})",
                "yes" if agent.uses_tools else "no",
                calls_text(model_calls(arm)) if isinstance(agent, CountsModelCalls) else "up to `max_turns`",
                agent.description,
            )
        )
    return paragraphs(table(("agent", "runs tools", "calls of the model", "does"), rows))


def agents_sections() -> str:
    """Each agent's section."""
    return "".join(
        paragraphs(f"### {agent.name}", AGENTS.details(agent.name), _in_words(agent))
        for agent in AGENTS.own()
    )


def _in_words(agent: object) -> str:
    has_no_schemas = isinstance(agent, CallsInWords) and agent.calls_in_words
    return "Its requests hold no tool schemas." if has_no_schemas else ""


# Presets


def presets_table() -> str:
    """All presets: what they are for, how many arms, and their price."""
    rows = []
    for preset in PRESETS.own():
        arms = plan_arms(preset.name, preset.example, benchmark=BENCHMARK).arms
        ends = [model_calls(arm) for arm in arms]
        least, most = (sum(side) for side in zip(*ends, strict=True))
        rows.append(
            (
                f"[`{preset.name}`](#{preset.name})",
                preset.description,
                str(len(arms)),
                calls_text((least, most)),
            )
        )
    return paragraphs(table(("preset", "what it does", "arms", "calls of the model per sample"), rows))


def presets_sections() -> str:
    """Each preset's section: what it is, and its parameters, in words where it has not named them."""
    return "".join(map(_preset_section, PRESETS.own()))


def _preset_section(preset: Preset[Any]) -> str:
    own = {
        name: field
        for name, field in preset.options.model_fields.items()
        if name not in PresetOptions.model_fields
    }
    details = PRESETS.details(preset.name)
    told = all(re.search(rf"`{name}\b", details) for name in own)
    words = "" if told else " ".join((inspect.getdoc(preset.options) or "").split())
    return paragraphs(f"### {preset.name}", details, f"{_parameters(own)} {words}".strip())


def _parameters(own: Mapping[str, FieldInfo]) -> str:
    if not own:
        return ""
    fields = []
    for name, field in own.items():
        default = (
            "required"
            if field.is_required()
            else f"default `{_flow(field.get_default(call_default_factory=True))}`"
        )
        fields.append(f"`{name}` ({default})")
    return f"Parameters: {', '.join(fields)}."


def _flow(value: object) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_flow(item)}' for name, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


# Benchmarks


def benchmarks_table() -> str:
    """All benchmarks: what they ask, need and offer."""
    rows = [
        (
            _benchmark_link(plugin.name),
            (summary.partition(": ")[2] or summary).rstrip("."),
            ", ".join(plugin.tasks) if len(plugin.tasks) <= 3 else f"{len(plugin.tasks)} tasks",
            "published files" if plugin.needs_data else "generated",
            _options(plugin),
            ", ".join(plugin.variants),
        )
        for plugin, summary in _summaries()
    ]
    return paragraphs(
        table(
            ("benchmark", "asks", "tasks", "data", "options of `select` and protocols", "official scorers"),
            rows,
        )
    )


def _summaries() -> Iterator[tuple[Benchmark, str]]:
    return ((plugin, BENCHMARKS.summary(plugin.name)) for plugin in BENCHMARKS.own())


def _benchmark_link(name: str) -> str:
    page = DOCS / "benchmarks" / f"{name}.md"
    return f"[`{name}`]({page.name})" if page.exists() else f"`{name}`"


def _options(plugin: Benchmark) -> str:
    options = plugin.options if isinstance(plugin, SupportsOptions) else frozenset()
    return ", ".join(f"`protocol: {name}`" if name == "paper" else f"`{name}`" for name in sorted(options))


def abilities_table() -> str:
    """Each optional ability: what it is, and an example."""
    rows: list[str] = []
    for ability in ABILITIES:
        what, _, example = (" ".join(text.split()) for text in (inspect.getdoc(ability) or "").split("\n\n"))
        rows.append(f"- `{ability.__name__}`: {what} {example}")
    return paragraphs("\n".join(rows))


# Row files


def row_columns() -> str:
    """The columns of a row file: what each holds, and whether a file must have it."""
    texts, line = _attribute_docstrings(Row), row_line().model_fields
    rows = [
        (
            f"- `{column.name}` ({_column_kind(column)}"
            f"{', required' if line[column.name].is_required() else ''}): {texts[column.name]}"
        )
        for column in ROW_COLUMNS
    ]
    return paragraphs("\n".join(rows))


def _attribute_docstrings(owner: type) -> dict[str, str]:
    """By field of a class, the text below it; a field without one has no entry."""
    tree = ast.parse(inspect.getsource(owner))
    return _texts_below(next(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)))


def _texts_below(statements: Iterable[ast.stmt]) -> dict[str, str]:
    """By name that is assigned to, the text below the assignment; a name without one has no entry."""
    texts: dict[str, str] = {}
    for assignment, text in pairwise(statements):
        if (
            isinstance(assignment, ast.Assign | ast.AnnAssign)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
            texts |= {target.id: text.value.value for target in targets if isinstance(target, ast.Name)}
    return texts


def _column_kind(column: RowColumn) -> str:
    """What a row file's column may hold, in words, with its limits."""
    if column.kind == "choice":
        return " or ".join(f"`{choice.value}`" for choice in column.type)
    words = {"fraction": "number", "texts": "list of texts", "mapping": "object"}
    ends = range_words(column.form.least, column.form.most)
    kind = f"{words.get(column.kind, column.kind)}{f', {ends}' if ends else ''}"
    return f"{kind}; or null" if column.is_nullable else kind


# The spec of a job


def spec_fields() -> str:
    """The fields of a spec, part by part, as the page of the API shows them."""
    schema = JobSpec.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = parts_of_spec({**schema.pop("$defs"), "JobSpec": schema})
    parts = [part for part in parts if part["name"] not in UNWRITTEN]
    names = {part["name"] for part in parts}
    return "".join(map(partial(spec_part, names=names), parts))


def spec_part(part: Mapping[str, Any], names: Collection[str]) -> str:
    """One part of a spec: what it is, and its fields; types that are parts are links."""

    def linked(word: re.Match[str]) -> str:
        return f"[{word[0]}](#{word[0].lower()})" if word[0] in names else word[0]

    def line(field: Mapping[str, str]) -> str:
        meaning = NONE.sub(".", field["description"])
        kind = field["type"].removesuffix(", or null")
        choices = re.findall(r'"(\w+)"', kind)
        if choices and all(f"`{choice}`" in meaning for choice in choices):
            kind = re.sub(r'"\w+"( \| "\w+")*', "string", kind)
        kind = re.sub(r"\w+", linked, kind)
        is_left_out = field["default"] in ("", "null", "[]", '""') or field["default"].startswith("{")
        default = (
            ""
            if is_left_out
            else f", {'' if field['default'] == 'required' else 'default '}{field['default']}"
        )
        return f"- `{field['name']}` ({kind}{default}): {meaning}"

    return paragraphs(f"## {part['name']}", part["description"], "\n".join(map(line, part["fields"])))


# The public names

SECTIONS_OF_API: Mapping[str, tuple[str, ...]] = {  # the beginnings of modules, by what their names are for
    "Tools": ("gnomon_tools.core.tool", "gnomon_tools.core.batch"),
    "What tools work on": ("gnomon_tools.core.inputs", "gnomon_tools.core.clip", "gnomon_tools.scene"),
    "Sketches": (
        "gnomon_tools.core.sketch",
        "gnomon_tools.core.marks",
        "gnomon_tools.core.scene_marks",
    ),
    "Agents": ("gnomon.core.agent", "gnomon.core.arm", "gnomon.core.message"),
    "Models": ("gnomon.core.model", "gnomon.spec.model"),
    "Presets": ("gnomon.spec.preset",),
    "Conditions": ("gnomon.trials",),
    "Rows": ("gnomon.core.row",),
    "Errors": ("gnomon.core.errors",),
    "Benchmarks": ("gnomon.",),  # all else
}

MARKS = ("gnomon_tools.core.marks", "gnomon_tools.core.scene_marks")
ELSEWHERE: Mapping[str, str] = {  # where lines of names stand that are named alone
    "Sketches": "build what a sketch draws ([marks](../tools/gnomon_tools/core/marks.py), "
    "[of scenes](../tools/gnomon_tools/core/scene_marks.py))",
    "Benchmarks": "[optional abilities](adding-a-benchmark.md#optional-abilities)",
}


def public_names() -> dict[str, tuple[str, str]]:
    """By name of `gnomon.api`, the module that it stands in and the first sentence of its docstring.

    A name that is no class and no function has its docstring below it.
    """
    names = {}
    for node in ast.parse(inspect.getsource(gnomon.api)).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            below = _texts_below(ast.parse(inspect.getsource(module)).body)
            for alias in node.names:
                value = getattr(module, alias.name)
                has_own = inspect.isclass(value) or inspect.isfunction(value)
                text = (value.__doc__ or "") if has_own else below.get(alias.name, "")
                paragraph = " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
                names[alias.name] = node.module, re.split(r"(?<=\.) ", paragraph)[0]
    return names


def public_lists() -> str:
    """The names of `gnomon.api` by what they are for, each with a line unless that stands elsewhere."""
    lists: dict[str, list[str]] = {title: [] for title in SECTIONS_OF_API}
    elsewhere: dict[str, list[str]] = {title: [] for title in ELSEWHERE}
    abilities = {ability.__name__ for ability in ABILITIES}
    for name, (module, text) in public_names().items():
        title = next(title for title, starts in SECTIONS_OF_API.items() if module.startswith(starts))
        if name in abilities or module in MARKS:
            elsewhere[title].append(f"`{name}`")
        else:
            lists[title].append(f"- `{name}`: {text}")
    for title, names in elsewhere.items():
        lists[title].append(f"- {', '.join(names)}: {ELSEWHERE[title]}.")
    return paragraphs(*(part for title, lines in lists.items() for part in (f"## {title}", "\n".join(lines))))


def limits_table(group: str) -> str:
    """Bounds of one kind."""
    return paragraphs(table(("what", "most", "beyond", "set in"), limits.rows_of(group)))


def places_table() -> str:
    """How many heavy requests are worked on, and wait."""
    return paragraphs(table(("requests", "at a time", "that wait"), limits.places()))


def other_limits() -> str:
    """Every other number that is named as a bound."""
    return paragraphs("\n".join(f"- {module}: {bounds}" for module, bounds in limits.others()))


PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "tools.md": {f"tools, needs {kind}": partial(tools_part, kind) for kind in kinds_of_tools()},
    "agents.md": {"table of agents": agents_table, "agents": agents_sections},
    "presets.md": {"table of presets": presets_table, "presets": presets_sections},
    "benchmarks/README.md": {"table of benchmarks": benchmarks_table},
    "public-api.md": {"public names": public_lists},
    "adding-a-benchmark.md": {"optional abilities": abilities_table},
    "spec.md": {"fields": spec_fields},
    "exchange.md": {"columns of a row": row_columns},
    "limits.md": {
        "places": places_table,
        **{group: partial(limits_table, group) for group in limits.GROUPS},
        "others": other_limits,
    },
}


def page_text(page: str) -> str:
    """The page as it should be: what is in the file, with the parts made from the modules.

    Raises:
        ValueError: the page lacks a mark.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, part in PARTS[page].items():
        begin, end = f"<!-- made from the modules: {name} -->\n", f"<!-- end of {name} -->\n"
        text = with_text_between(text, begin, end, f"\n{part()}")
    return text


def main() -> None:
    """Write all pages."""
    for page in PARTS:
        (DOCS / page).write_text(page_text(page), encoding="utf-8")


if __name__ == "__main__":
    main()
