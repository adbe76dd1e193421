"""The pages of benchmarks, agents and presets, made from what their modules declare."""

import functools
import inspect
import sys
from pathlib import Path
from typing import Any

import yaml
from fastapi import APIRouter
from markupsafe import Markup
from pydantic.fields import FieldInfo

import gnomon
from gnomon.core.agent import AGENTS, Agent, CallsInWords, CountsModelCalls, model_calls
from gnomon.core.arm import Arm
from gnomon.core.benchmark import (
    ABILITIES,
    BENCHMARKS,
    MODULES,
    Benchmark,
    Published,
    ReadsOwnFiles,
    SpellsOutTasks,
    SupportsOptions,
    benchmark_module,
    decoding_of,
)
from gnomon.core.decoding import Decoding
from gnomon.core.opened_question import OpenedQuestion, show_question
from gnomon.core.select import Select
from gnomon.core.tool_inputs import usable_tools
from gnomon.drawing.layer import Layer
from gnomon.drawing.scene_svg import scene_svg
from gnomon.media import MediaStore
from gnomon.report.sections.job import arm_text
from gnomon.spec.preset import PRESETS, plan_arms
from gnomon_service.api.state import Shared
from gnomon_service.web.pages import View, page
from gnomon_tools.core.json_schema import plain_schema
from gnomon_tools.core.sketch import Plane
from gnomon_tools.core.toolbox import TOOLS
from gnomon_workbench.pages.tool_pages import field_records, paragraphs
from gnomon_workbench.tool_call import plugin_of
from gnomon_workers.open_job import media_of

DOCS = Path(gnomon.__file__).parents[1] / "docs" / "benchmarks"  # absent where only packages are installed
DRAWN = 14  # samples that are looked through for one of each scene
PRESET_BENCHMARK = "worlds"  # whose tools and oracle a preset's arms are shown for
PROTOCOLS = ("guarded", "official", "paper")

router = APIRouter(include_in_schema=False)


@page(router, "/ui/benchmarks", "benchmarks.html.j2")
def benchmark_list() -> View:
    """Which questions can be asked, and what data they need."""
    rows = [
        {
            "name": plugin.name,
            "says": BENCHMARKS.summary_of(plugin.name),
            "tasks": len(plugin.tasks),
            "data": _data_of(plugin),
            "published": len(plugin.published()),
        }
        for plugin in BENCHMARKS
    ]
    generated = sum(row["data"] == "generated" for row in rows)
    return {
        "title": "Benchmarks",
        "answer": f"{len(rows)} sets of questions; {generated} of them are generated here and need no files.",
        "benchmarks": rows,
    }


@page(router, "/ui/benchmarks/{name}", "benchmark.html.j2")
def benchmark_page(state: Shared, name: str) -> View:
    """One benchmark: what it asks, of which data, how it is scored, and what was published."""
    plugin = plugin_of(BENCHMARKS, name)
    spelled = plugin.task_names if isinstance(plugin, SpellsOutTasks) else {}
    published = [_published_record(row) for row in plugin.published()]
    documentation = DOCS / f"{name}.md"
    examples = () if plugin.needs_data else _examples(name, media_of(state.settings.data_dir).folder)
    return {
        "title": name,
        "answer": BENCHMARKS.summary_of(name),
        "version": plugin.version,
        "data": _data_of(plugin),
        "headline": plugin.headline.replace("_", " ").replace("cell", "subset"),
        "scenes": list(plugin.scenes),
        "tasks": [{"task": task} for task in plugin.tasks],
        "abbreviations": [{"short": short, "means": means} for short, means in spelled.items()],
        "options": sorted(plugin.options) if isinstance(plugin, SupportsOptions) else [],
        "scorers": list(plugin.variants),
        "protocols": _protocols(plugin),
        "tools": usable_tools(plugin),
        "abilities": [
            {"ability": ability.__name__, "says": _first_line(ability)}
            for ability in ABILITIES
            if isinstance(plugin, ability)
        ],
        "modules": [module for module in MODULES if benchmark_module(name, module)],
        "published": published,
        "details": paragraphs(BENCHMARKS.details(name)),
        "audit_command": f"gnomon audit --benchmark {name}" + (" --data DIR" if plugin.needs_data else ""),
        "_documentation": documentation.read_text(encoding="utf-8") if documentation.is_file() else "",
        "examples": [example for example, _ in examples],
        "_drawings": [drawing for _, drawing in examples],
    }


def _data_of(plugin: Benchmark) -> str:
    if isinstance(plugin, ReadsOwnFiles):
        return "a file of your own"
    return "published files" if plugin.needs_data else "generated"


def _first_line(ability: type) -> str:
    return " ".join((inspect.getdoc(ability) or "").split("\n\n")[0].split())


def _protocols(plugin: Benchmark) -> list[dict[str, str]]:
    """The prompts there are, with the decoding that each sets."""
    has_paper = isinstance(plugin, SupportsOptions) and "paper" in plugin.options
    return [
        {
            "protocol": name,
            "decoding": "; ".join(
                f"{task}: {_settings(decoding)}" for task, decoding in decoding_of(plugin, name).items()
            )
            or "as the model's provider sets it",
        }
        for name in PROTOCOLS
        if name != "paper" or has_paper
    ]


def _settings(decoding: Decoding) -> str:
    return ", ".join(f"{name} {value}" for name, value in decoding.model_dump(exclude_none=True).items())


def _published_record(row: Published) -> dict[str, Any]:
    return {"model": row.model, "kind": row.group, "mean": row.aggregate}


@functools.lru_cache(maxsize=8)
def _examples(name: str, media: Path) -> tuple[tuple[dict[str, Any], Markup | None], ...]:
    """A question of each kind of scene with what is true drawn; without scenes the first question."""
    plugin = BENCHMARKS.get(name)
    samples = plugin.open(data=None, select=Select(limit=DRAWN), protocol="guarded", media=MediaStore(media))
    examples: dict[str, tuple[dict[str, Any], Markup | None]] = {}
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        view = show_question(OpenedQuestion(sample=sample, benchmark=plugin)).view
        if view is None:
            continue
        kind = sample.scene.kind if sample.scene else ""
        if kind in examples or (sample.scene is not None and not view.truth.marks):
            continue
        layers = [Layer("seen", view.seen, "seen"), Layer("true", view.truth, "truth")]
        plane: Plane = "scene" if sample.scene is not None else "earth"
        drawing: Markup | None = None
        if any(layer.sketch.marks and layer.sketch.plane == plane for layer in layers):
            title = f"Map of question {ref.sample_id}: what is seen, and what is true"
            ident = f"example-{len(examples)}"
            drawing = scene_svg(sample.scene, layers, ident=ident, title=title, plane=plane)
        example = {
            "sample_id": ref.sample_id,
            "cell": ref.cell,
            "question": view.question,
            "options": [f"{option.letter}. {option.text}" for option in view.options],
            "truth": view.truth_text,
        }
        examples[kind] = example, drawing
        if sample.scene is None or len(examples) == len(plugin.scenes):
            break
    return tuple(examples.values())


@page(router, "/ui/agents", "agents.html.j2")
def agent_list() -> View:
    """How a question can be answered."""
    rows = [
        {"name": agent.name, "says": AGENTS.summary_of(agent.name), "calls": _calls(agent)}
        for agent in AGENTS
    ]
    return {
        "title": "Agents",
        "answer": f"{len(rows)} loops around a model; an arm names one of them.",
        "agents": rows,
    }


@page(router, "/ui/agents/{name}", "agent.html.j2")
def agent_page(name: str) -> View:
    """One agent: its loop, in words and as its source."""
    agent = plugin_of(AGENTS, name)
    module = sys.modules[type(agent).__module__]
    return {
        "title": name,
        "answer": AGENTS.summary_of(name),
        "description": agent.description,
        "uses_tools": agent.uses_tools,
        "calls": _calls(agent),
        "tells_tools_in_words": isinstance(agent, CallsInWords) and agent.calls_in_words,
        "arm": yaml.safe_dump(
            [_example_arm(agent)], sort_keys=False, default_flow_style=True, width=200
        ).strip(),
        "details": paragraphs(AGENTS.details(name)),
        "source_file": module.__name__.replace(".", "/") + ".py",
        "_source": inspect.getsource(module),
    }


def _example_arm(agent: Agent) -> dict[str, Any]:
    arm: dict[str, Any] = {"name": agent.name, "agent": agent.name}
    return {**arm, "tools": "all", "max_tool_calls": 12} if agent.uses_tools else arm


def _calls(agent: Agent) -> str:
    """How often a trial calls the model, in words."""
    tools = ("speed",) if agent.uses_tools else ()
    if not isinstance(agent, CountsModelCalls):
        return "up to `max_turns` times"
    least, most = model_calls(Arm(name="an arm", agent=agent.name, tools=tools))
    if least == most:
        return "once" if least == 1 else f"{least:,} times"
    return f"{least:,} to {most:,} times"


@page(router, "/ui/presets", "presets.html.j2")
def preset_list() -> View:
    """Which sets of arms there are, and what each isolates."""
    rows = [
        {
            "name": preset.name,
            "says": PRESETS.with_origin(preset.name, preset.description),
            "arms": len(plan_arms(preset.name, preset.example, benchmark=PRESET_BENCHMARK).arms),
        }
        for preset in PRESETS
    ]
    return {
        "title": "Presets",
        "answer": f"{len(rows)} questions about tools, each a set of arms with the contrasts that answer it.",
        "presets": rows,
    }


@page(router, "/ui/presets/{name}", "preset.html.j2")
def preset_page(name: str) -> View:
    """One preset: its options, its arms and its contrasts."""
    preset = plugin_of(PRESETS, name)
    plan = plan_arms(name, preset.example, benchmark=PRESET_BENCHMARK)
    fitting = usable_tools(BENCHMARKS.get(PRESET_BENCHMARK))
    return {
        "title": name,
        "answer": PRESETS.with_origin(name, preset.description),
        "details": paragraphs(PRESETS.details(name)),
        "spec": yaml.safe_dump({"arms": {"preset": name, **preset.example}}, sort_keys=False),
        "arms": [
            {
                "arm": arm.name,
                "is": arm_text(arm, fitting=[tool for tool in arm.tools if tool in fitting]),
            }
            for arm in plan.arms
        ],
        "contrasts": [
            {**contrast.model_dump(exclude={"factor"}), "differs_in": ", ".join(contrast.factor)}
            for contrast in plan.contrasts
        ],
        "notes": list(plan.notes),
        "options": [
            {**record, "default": _default_text(preset.options.model_fields.get(record["name"]))}
            for record in field_records(plain_schema(preset.options.model_json_schema()))
            if not record["depth"]
        ],
    }


def _default_text(field: FieldInfo | None) -> str | None:
    """An option's default in words; None where it has none."""
    if field is None or field.is_required():
        return None
    value = field.get_default(call_default_factory=True)
    if value == list(TOOLS.working_names()):
        return "all that fit the questions"
    return ", ".join(map(str, value)) or None if isinstance(value, list | dict) else value
