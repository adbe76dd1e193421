"""Finds the suite for a plug-in by what it is."""

from pathlib import Path
from typing import Any

from gnomon.core.agent import is_agent
from gnomon.core.benchmark import is_benchmark
from gnomon.spec.model_providers import is_model_provider
from gnomon.spec.preset import Preset
from gnomon_conformance.agents import AgentSuite
from gnomon_conformance.benchmarks import BenchmarkSuite
from gnomon_conformance.check import Check, checks_in
from gnomon_conformance.models import ModelProviderSuite
from gnomon_conformance.presets import PresetSuite
from gnomon_conformance.tools import ToolSuite
from gnomon_tools.core.tool import Tool


def checks(plugin: Any, *, data: Path | None = None) -> list[Check]:
    """What the plug-in must keep. `data`: a folder of files for a benchmark that reads some.

    Raises:
        TypeError: it is none of the five kinds of plug-ins.
    """
    if isinstance(plugin, type):
        raise TypeError(f"{plugin.__name__} is a class; a plug-in is an object")
    if isinstance(plugin, Tool):
        return checks_in(ToolSuite(plugin))
    if isinstance(plugin, Preset):
        return checks_in(PresetSuite(plugin))
    if is_benchmark(plugin):
        return checks_in(BenchmarkSuite(plugin, data))
    if is_agent(plugin):
        return checks_in(AgentSuite(plugin))
    if is_model_provider(plugin):
        return checks_in(ModelProviderSuite(plugin))
    message = "is no Tool and no Preset, and has not what a benchmark, an agent or a model provider has"
    raise TypeError(f"{type(plugin).__name__} {message}")
