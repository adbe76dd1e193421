"""The house rules that no linter knows."""

import ast
import importlib
import importlib.metadata
import re
import subprocess
from pathlib import Path

import pytest

from gnomon.core import errors

ROOT = Path(__file__).parent.parent
PACKAGES = ("tools", "gnomon", "agents", "workers", "service")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("name", PACKAGES)
def test_no_stranger_claims_the_name_of_our_package(name: str) -> None:
    owners = set(importlib.metadata.packages_distributions().get(name, []))
    assert owners <= {"gnomon-eval"}, f"{owners} also install a package called {name!r}"
    assert Path(importlib.import_module(name).__path__[0]) == ROOT / name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_has_a_purpose_and_is_quiet_at_import(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "begins without saying why it exists"
    if path.name == "__init__.py":
        allowed = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign)
        assert all(isinstance(node, allowed) for node in tree.body), "holds more than names and a docstring"


def test_the_error_tree_in_the_docstring_is_the_class_tree() -> None:
    drawn = re.findall(r"^(?:[│ ]*[├└]── )?([A-Z]\w+)(?:  .*)?$", errors.__doc__ or "", flags=re.MULTILINE)
    assert sorted(drawn) == sorted(
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    )


def test_nothing_tracked_names_a_place_outside_the_project() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    place = re.compile(r"(?:^|[\s\"'=(])/(?:work|root|farm|home)/")
    hosts = re.compile(r"pypi\.org|files\.pythonhosted|registry\.npmjs|deb\.debian")
    for name in filter(None, listed):
        path = ROOT / name
        if (
            path.suffix in {".png", ".gz", ".parquet", ".pbf", ".eval"}
            or path == Path(__file__)
            or not path.exists()
        ):
            continue
        text = path.read_text(encoding="utf-8")
        assert not place.search(text), f"{name} names an absolute path"
        assert not hosts.search(text), f"{name} names a registry's host"


def test_every_environment_variable_is_documented() -> None:
    used = {
        name
        for path in MODULES
        for name in re.findall(r"GNOMON_[A-Z_]+[A-Z]", path.read_text(encoding="utf-8"))
    }
    documented = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert not {name for name in used if name not in documented}
