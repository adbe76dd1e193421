"""Routes that list the benchmarks, tools, agents and arm presets."""

import functools
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS, Benchmark
from gnomon.spec.preset import PRESETS
from gnomon_service.api.serializers import listing
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.tool import contract_hash
from gnomon_tools.core.toolbox import TOOLS

router = APIRouter(prefix="/v1", tags=["catalog"])


@router.get("/benchmarks")
def list_benchmarks() -> dict[str, Any]:
    """Name, version, tasks, scenes and scorers of each benchmark; `from` names the package of a plug-in."""
    return listing([_benchmark(plugin.name, plugin) for plugin in BENCHMARKS])


@router.get("/tools")
def list_tools() -> dict[str, Any]:
    """Name, description, argument schema and contract hash of each tool."""
    return listing(
        [
            {
                **tool.schema()["function"],
                "contract": contract_hash((tool,)),
                "from": TOOLS.whose(tool.name),
            }
            for tool in TOOLS
        ]
    )


@router.get("/agents")
def list_agents() -> dict[str, Any]:
    """Name and description of each agent."""
    return listing([_summary(AGENTS, agent.name) for agent in AGENTS])


@router.get("/arms/presets")
def list_presets() -> dict[str, Any]:
    """The arm presets: sets of arms that a spec may name instead of listing them, with their options."""
    return listing(
        [
            {
                "name": preset.name,
                "description": preset.description,
                "options": _schema(preset.options),  # type: ignore[arg-type]
                "from": PRESETS.whose(preset.name),
            }
            for preset in PRESETS
        ]
    )


@functools.cache
def _schema(options: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a preset's options, made once; its readers never change it."""
    return options.model_json_schema()


def _summary(registry: Registry[Any], name: str) -> dict[str, str | None]:
    return {"name": name, "description": registry.summary(name), "from": registry.whose(name)}


def _benchmark(name: str, plugin: Benchmark) -> dict[str, Any]:
    return {
        "name": name,
        "description": BENCHMARKS.summary(name),
        "version": plugin.version,
        "tasks": plugin.tasks,
        "scenes": plugin.scenes,
        "variants": plugin.variants,
        "needs_data": plugin.needs_data,
        "headline": plugin.headline,
        "from": BENCHMARKS.whose(name),
    }
