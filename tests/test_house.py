"""The house rules that no linter knows."""

import ast
import importlib
import importlib.metadata
import re
import subprocess
from pathlib import Path

from gnomon.core import errors
from tests.sources import FOLDERS, MODULES, PARTS, ROOT, module_name, source_of

SHORT = 40  # lines below which a module with a single importer belongs in its importer
REASONS = {  # why a short module with a single importer exists; an entry that is not needed fails the test
    "gnomon_analyses.pages.paper": "each page stands alone",
    "gnomon_analyses.statistics.reliability": "arithmetic stands apart from the section that shows it",
    "gnomon_conformance.kinds": "a package's own module holds names and no code",
    "gnomon_workers.paused_model": "what is put around a model stands alone, as the others do",
    "gnomon_workers.store.worker_registry": "one module per table of the store",
}


def test_no_stranger_claims_the_name_of_a_package_of_ours() -> None:
    installed = importlib.metadata.packages_distributions()
    for name, folder in FOLDERS.items():
        owners = set(installed.get(name, []))
        assert owners <= {"gnomon-eval", *(f"gnomon-{part}" for part in PARTS)}, (
            f"{owners} also install a package called {name!r}"
        )
        assert Path(importlib.import_module(name).__path__[0]) == folder


def test_every_module_is_short_has_a_purpose_and_is_quiet_at_import() -> None:
    faults = []
    for path in MODULES:
        source = source_of(path)
        if source.lines > 500:
            faults.append(f"{path.relative_to(ROOT)}: has {source.lines} lines, more than 500")
        if not source.has_purpose:
            faults.append(f"{path.relative_to(ROOT)}: begins without saying why it exists")
        allowed = {ast.Expr, ast.Import, ast.ImportFrom, ast.Assign}
        if path.name == "__init__.py" and not source.holds <= allowed:
            faults.append(f"{path.relative_to(ROOT)}: holds more than names and a docstring")
    assert faults == []


def test_no_package_has_a_module_of_the_name_of_what_it_exports() -> None:
    """Whichever is imported last would hide the other."""
    modules = set(map(module_name, MODULES))
    hidden = {
        name
        for path in MODULES
        if path.name == "__init__.py"
        for name, _ in source_of(path).imports - {(module, module) for module in modules}
        if name not in modules and f"{module_name(path)}.{name.rpartition('.')[2]}" in modules
    }
    assert hidden == set()


def importers() -> dict[str, set[str]]:
    """By module, the modules of our packages that import it, wherever in them."""
    found: dict[str, set[str]] = {module_name(path): set() for path in MODULES}
    for path in MODULES:
        importer = module_name(path)
        for whole, module in source_of(path).imports:
            name = whole if whole in found else module
            if name in found and name != importer:
                found[name].add(importer)
    return found


def test_a_short_module_with_a_single_importer_has_a_reason() -> None:
    importing = importers()
    packages = {package for path in MODULES for package in source_of(path).registered}
    assert {"gnomon_tools", "gnomon_agents", "gnomon.presets", "gnomon.benchmarks"} <= packages
    single = {
        name
        for path in MODULES
        if (name := module_name(path)).rpartition(".")[0] not in packages
        and path.name not in {"__init__.py", "__main__.py"}
        and source_of(path).lines < SHORT
        and len(importing[name]) == 1
    }
    assert single - set(REASONS) == set(), "merge them into their importers, or give a reason"
    assert set(REASONS) - single == set(), "these need no reason"


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
            path.suffix in {".png", ".jpg", ".gz", ".parquet", ".pbf", ".eval", ".npz", ".xlsx"}
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


def test_no_script_or_test_defines_a_name_twice() -> None:
    """The type checker looks at the packages alone, and a second definition replaces the first."""
    twice = []
    for path in (path for folder in ("bench", "tests", "scripts") for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        at_margin = re.findall(r"^(?:def|class) (\w+)", text, flags=re.MULTILINE)  # also within a text
        if len(set(at_margin)) == len(at_margin):
            continue
        names = [
            node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]
        twice += [f"{path.relative_to(ROOT)}: {name}" for name in set(names) if names.count(name) > 1]
    assert twice == []
