"""Holds docs/architecture.md to the code: its files exist, and its arrows are imports."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CODE = ("gnomon", "tools", "agents", "workers", "service", "packages", "scripts")
CHARTS = re.findall(r"```mermaid\n(.*?)```", MAP, re.DOTALL)


def arrows():
    for chart in CHARTS:
        files = dict(re.findall(r'(\w+)\["([^"]+)"\]', chart))
        for line in chart.splitlines():
            if "-->" in line:
                source, target = (re.match(r"\w+", end.strip())[0] for end in line.split("-->"))
                yield files[source], files[target]


def imported(path):
    """Modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_]+/[a-z_/.]*)`", MAP))))
def test_what_the_map_names_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("source", "target"), list(arrows()))
def test_an_arrow_of_the_map_is_an_import(source, target):
    module = re.sub(r"^(?:tools|agents|workers|service)/", "", target.removesuffix(".py"))
    assert module.replace("/", ".") in set(imported(source))


def test_modules_name_files_that_are_there():
    files = [path.relative_to(ROOT).as_posix() for part in CODE for path in (ROOT / part).rglob("*.py")]
    paths, absent = " ".join(f"/{file}" for file in files) + " ", []
    for file in files:
        said = re.match(r'r?"""(.*?)"""', (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)
        names = re.findall(r"`([\w/]+\.py)`", said[1] if said else "")
        absent += [f"{file}: {name}" for name in names if f"/{name} " not in paths]
    assert absent == []


def test_the_map_has_arrows():
    assert len(list(arrows())) > 25
