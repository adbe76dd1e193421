"""Spells out `tools: all` of a spec: the tools that fit its benchmark, where it says which.

Of questions in a file of the user's own these are the tools that the file can serve. Of a benchmark that does
not say, `all` is every tool there is; what a sample cannot serve is not offered with it.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gnomon.core.benchmark import BENCHMARKS, Benchmark, ReadsOwnFiles
from gnomon.core.errors import GnomonError, SpecError
from gnomon.core.select import Select
from gnomon.core.tool_inputs import ProvidesToolInputs, ServesByFile, ServesBySelect, usable_tools

ALL = "all"


def with_tools_that_fit(
    written: Mapping[str, Any], *, find_file: Callable[[str, str], Path]
) -> Mapping[str, Any]:
    """The spec with names in place of `all`, where its benchmark says which tools fit; else as it is.

    A file that is absent or cannot be read is left to the rules that say so. `find_file` finds the file of a
    path that the spec names in the field.

    Raises:
        SpecError: an arm or a preset asks for `all`, and no tool fits the benchmark.
    """
    arms = written.get("arms")
    is_preset = isinstance(arms, Mapping)
    holders = [arms] if is_preset else arms if isinstance(arms, list) else []
    usual = ALL if is_preset else None  # of a preset that names no tools
    tools = [holder.get("tools", usual) if isinstance(holder, Mapping) else None for holder in holders]
    if not any(map(_has_all, tools)):
        return written
    benchmark = _benchmark_that_says(written, find_file)
    if benchmark is None:
        return written
    names = usable_tools(benchmark)
    for at, holder in enumerate(holders):
        if not names and isinstance(holder, Mapping) and _has_all(holder.get("tools")):
            field = "arms.tools" if is_preset else f"arms.{at}.tools"
            raise SpecError(f"no tool fits {written['benchmark']}; name those that you mean", field=field)
    spelled = [
        {**holder, "tools": _spelled_out(each, names)} if _has_all(each) else holder
        for holder, each in zip(holders, tools, strict=True)
    ]
    return {**written, "arms": spelled[0] if is_preset else spelled}


def _has_all(tools: object) -> bool:
    return tools == ALL or (isinstance(tools, list) and len(tools) > 1 and ALL in tools)


def _spelled_out(tools: Any, names: list[str]) -> list[Any]:
    if tools == ALL:
        return names
    return [name for tool in tools for name in (names if tool == ALL else [tool])]


def _benchmark_that_says(
    written: Mapping[str, Any], find_file: Callable[[str, str], Path]
) -> Benchmark | None:
    benchmark = BENCHMARKS.find(str(written.get("benchmark")))
    plugin: object = benchmark
    if isinstance(plugin, ServesBySelect):
        with suppress(ValidationError):  # which the rules of the fields tell
            return plugin.selecting(Select.model_validate(written.get("select") or {}))
    if not isinstance(plugin, ServesByFile):
        return benchmark if isinstance(benchmark, ProvidesToolInputs) else None
    data, columns = written.get("data"), written.get("columns") or {}
    if not (isinstance(data, str) and isinstance(columns, Mapping)):
        return None
    try:
        path = find_file(data, "data")
        named = {
            str(ours): tuple(map(str, theirs)) if isinstance(theirs, list) else str(theirs)
            for ours, theirs in columns.items()
        }
        read: object = plugin.reading(named, None) if isinstance(plugin, ReadsOwnFiles) else plugin
        return read.serving(path) if isinstance(read, ServesByFile) else None
    except GnomonError:
        return None
