"""`gnomon.api` is what plug-ins use: its names, who imports what, and modules of a user's own beside it."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gnomon.api
from scripts.write_docs import public_names
from tests.sources import ROOT, source_of

TEMPLATES = sorted((ROOT / "packages" / "workbench" / "gnomon_workbench" / "new_plugin").glob("*.py.txt"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
PLUGIN_MODULES = sorted((ROOT / "packages").glob("*/gnomon_*/**/*.py"))
OURS = re.compile(r"gnomon(_\w+)?(\.|$)")


def imported(source: str) -> Iterator[str]:
    """The full names of ours that a module imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if OURS.match(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and OURS.match(node.module):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_public_name_is_there_once_and_says_what_it_is() -> None:
    assert sorted(gnomon.api.__all__) == sorted(set(gnomon.api.__all__)) == sorted(public_names())
    assert all(hasattr(gnomon.api, name) for name in gnomon.api.__all__)
    assert [name for name, (_, text) in public_names().items() if not text.endswith(".")] == []


@pytest.mark.parametrize("path", [*TEMPLATES, *EXAMPLES], ids=lambda path: path.name)
def test_templates_and_examples_import_public_names_alone(path: Path) -> None:
    source = re.sub(r"\$\{?\w+\}?", "name", path.read_text(encoding="utf-8"))
    public = {f"gnomon.api.{name}" for name in gnomon.api.__all__}
    for name in set(imported(source)) - public:
        assert path.name.endswith("_test.py.txt"), f"{name} is not in gnomon.api"
        assert name.startswith("gnomon_conformance."), f"{name} is neither in gnomon.api nor a check"


def test_packages_of_plugins_name_nothing_private_of_the_kernel() -> None:
    assert PLUGIN_MODULES
    private = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in PLUGIN_MODULES
        for name, _ in source_of(path).imports
        if OURS.match(name)
        and any(part.startswith("_") for part in name.split("."))
        and not is_own(path, name)
    }
    assert private == set()


def is_own(path: Path, name: str) -> bool:
    """Whether a name stands in the package of the module that imports it."""
    return path.relative_to(ROOT).parts[2] == name.partition(".")[0]


def test_modules_of_a_users_own_named_like_our_folders_do_not_collide(tmp_path: Path) -> None:
    for folder in ("tools", "service", "packages"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("OWN = True\n")
    for module in ("agents", "workers", "api", "lab"):
        (tmp_path / f"{module}.py").write_text("OWN = True\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import agents, api, lab, packages, service, tools, workers\n"
        "import gnomon_lab\n"
        "from gnomon.api import BENCHMARKS, Tool\n"
        "from gnomon.core.agent import AGENTS\n"
        "from gnomon_tools.core.toolbox import TOOLS\n"
        "assert all(each.OWN for each in (agents, api, lab, packages, service, tools, workers))\n"
        "print('distance' in TOOLS, 'react' in AGENTS, 'worlds' in BENCHMARKS, Tool.__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True True True Tool\n", done.stderr


@pytest.mark.parametrize(
    "package", ["gnomon", "gnomon_conformance", "gnomon_lab", "tools/gnomon_tools", "agents/gnomon_agents"]
)
def test_packages_that_plugins_import_say_that_they_are_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").exists()
