"""The pages on adding a tool, an agent, a benchmark and a preset: their examples work as they are written.

The examples are put into a tree of links to the project; there the pages' commands, the conformance
tests and `make docs` are run, with no other edit.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.warm_gnomon import python_path, warm_gnomon

ROOT = Path(__file__).parents[1]
PAGES = ("adding-a-tool.md", "adding-a-benchmark.md", "adding-an-agent.md", "adding-a-preset.md")
GROWING = (  # folders that get a module
    *("tools/gnomon_tools", "agents/gnomon_agents", "gnomon", "gnomon/presets", "gnomon/benchmarks"),
)
LINKED = (
    *("scripts", "tests", "conftest.py", "gnomon_conformance", "workers", "service", "packages", "examples"),
    "pyproject.toml",
)
FILE = re.compile(r"^`([\w./-]+\.(?:py|yaml))`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONFORMANCE = {
    "tests/tools/test_conformance.py": ("catch_up",),
    "tests/agents/test_agent_conformance.py": ("twice", "looped"),
    "tests/gnomon/test_benchmark_conformance.py": ("clock-hands",),
    "tests/gnomon/test_presets.py": ("token_limit",),
}
# Writes the pages that list plug-ins, as `make docs` does, and runs pytest: one process reads them once.
WRITE_AND_TEST = """
import sys
import pytest
from scripts.write_docs import DOCS, page_text
for page in ("agents.md", "presets.md", "tools.md", "benchmarks/README.md"):
    (DOCS / page).write_text(page_text(page), encoding="utf-8")
sys.exit(pytest.main(sys.argv[1:]))
"""


def files_of(page: str) -> dict[str, str]:
    """The files that a page shows, by path."""
    return dict(FILE.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))


def commands_of(page: str) -> list[str]:
    blocks = re.findall(
        r"^```sh[^\n]*\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE
    )
    return [line for block in blocks for line in block.splitlines()]


def output_of(tree: Path, *command: str, path: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": python_path(tree), "PATH": path or os.environ["PATH"]}
    done = subprocess.run(
        ["env", *command],  # which looks the command up on that PATH
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with every example of the pages in it."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in GROWING:
        (tree / folder).mkdir(parents=True)
        for entry in (ROOT / folder).iterdir():
            if entry.name != "__pycache__" and f"{folder}/{entry.name}" not in GROWING:
                (tree / folder / entry.name).symlink_to(entry)
    for name in LINKED:
        (tree / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", tree / "docs")
    for page in PAGES:
        for path, text in files_of(page).items():
            (tree / path).write_text(text, encoding="utf-8")
    return tree


@pytest.fixture(scope="module")
def path(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """PATH, with a `gnomon` of that tree that need not be loaded for every command."""
    with warm_gnomon(tmp_path_factory.mktemp("warm"), root=tree) as path:
        yield path


@pytest.mark.parametrize("page", PAGES)
def test_the_page_adds_one_module_and_shows_commands(page: str) -> None:
    modules = [path for path in files_of(page) if path.endswith(".py")]
    assert modules
    assert all(str(Path(path).parent) in GROWING for path in modules)
    assert not any((ROOT / path).exists() for path in files_of(page))
    assert commands_of(page)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_the_page_run(page: str, tree: Path, path: str) -> None:
    for command in commands_of(page):
        output_of(tree, *shlex.split(command), path=path)


def test_the_examples_keep_what_every_plugin_keeps_and_are_documented(tree: Path) -> None:
    names = " or ".join(name for names in CONFORMANCE.values() for name in names)
    options = (
        "-k",
        names,
        "-p",
        "no:cacheprovider",
        "-q",
        "-rA",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    )
    summary = output_of(tree, sys.executable, "-c", WRITE_AND_TEST, *CONFORMANCE, *options)
    for tests, expected in CONFORMANCE.items():
        passed = [line for line in summary.splitlines() if line.startswith(f"PASSED {tests}")]
        assert all(any(name in line for line in passed) for name in expected)
    docs = {page: (tree / "docs" / page).read_text() for page in ("tools.md", "agents.md", "presets.md")}
    assert "`catch_up(gap_m, behind_mps, ahead_mps, gap_error_m=0.0)`" in docs["tools.md"]
    assert "| [`twice`](#twice) | no | 2 | Asks twice" in docs["agents.md"]
    assert "| [`token_limit`](#token_limit) |" in docs["presets.md"]
    assert "| `clock-hands` | how large is" in (tree / "docs" / "benchmarks" / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_are_in_the_style_of_the_project(page: str, tree: Path) -> None:
    modules = [path for path in files_of(page) if path.endswith(".py")]
    ruff = (sys.executable, "-m", "ruff")
    output_of(tree, *ruff, "check", "--no-cache", *modules)
    output_of(tree, *ruff, "format", "--no-cache", "--check", "--diff", *modules)


def test_the_examples_are_listed(tree: Path, path: str) -> None:
    assert "catch_up" in output_of(tree, "gnomon", "tools", "list", path=path)
    assert "token_limit" in output_of(tree, "gnomon", "presets", path=path)


def test_the_example_benchmark_is_scored_by_its_own_rule(tree: Path, path: str) -> None:
    records = [{"id": 1, "deg": 97.5, "response": f"Answer: {number}"} for number in (97, 90, 12)]
    for mode, values in (("strict", [1.0, 0.0, 0.0]), ("official", [1.0, 0.5, 0.0])):
        done = subprocess.run(
            ["env", "gnomon", "score", "--benchmark", "clock-hands", "--mode", mode],
            input="".join(f"{json.dumps(record)}\n" for record in records),
            cwd=tree,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        assert [json.loads(line)["score"] for line in done.stdout.splitlines()] == values
