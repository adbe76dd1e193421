"""Our code uses public names of other packages, sets nothing on them, and imports only what is declared."""

import ast
import functools
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("trips", "worlds", "published", "formats", "rooms")
FOLDERS = (
    *("tools", "gnomon", "gnomon_conformance", "agents", "workers", "service", "gnomon_lab"),
    *(f"packages/{part}/gnomon_{part}" for part in PARTS),
)
OURS = {
    *("gnomon", "gnomon_conformance", "gnomon_lab", "gnomon_tools", "gnomon_agents", "gnomon_workers"),
    *("gnomon_service", "bench", "scripts", "tests", "conftest", *(f"gnomon_{part}" for part in PARTS)),
}
# Public in spite of their underscore: documented as functions for programs to call, or methods to define.
DOCUMENTED = {"os._exit"}
TO_DEFINE = {"_llm_type", "_generate", "_agenerate"}  # LangChain's chat models: abstract, documented
# Settings that a package documents as such.
SETTINGS = re.compile(
    r"litellm\.(telemetry|suppress_debug_info|turn_off_message_logging|aclient_session)|sys\.(stdout|stderr)"
)


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def dotted(node: ast.AST) -> list[str]:
    """The names of `a.b.c`; empty where it begins with anything else than a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


ASKED = (  # nodes that the questions are about, a fifth of all
    *(ast.Import, ast.ImportFrom, ast.Attribute, ast.ClassDef, ast.Call),
    *(ast.Assign, ast.Delete, ast.AugAssign, ast.AnnAssign),
)


def targets(node: ast.AST) -> list[ast.expr]:
    """What a statement sets, or takes away."""
    if isinstance(node, ast.Assign | ast.Delete):
        return [part for target in node.targets for part in getattr(target, "elts", [target])]
    if isinstance(node, ast.AugAssign | ast.AnnAssign):
        return [node.target]
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[of, *_]):
            return [ast.Attribute(value=of, attr="…", ctx=ast.Store())]
    return []


class Module:
    """What one of our modules does with names of other packages."""

    def __init__(self, source: str) -> None:
        self.nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ASKED)]
        self.imported: dict[str, str] = {}  # by the name here
        self.modules: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.modules.add(alias.name)
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.imported[alias.asname or name] = name
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.modules.add(node.module)
                self.imported |= {
                    alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
                }

    def foreign(self, node: ast.AST) -> str:
        """The full name of `node` where it is another package's; else nothing."""
        first, *rest = dotted(node) or [""]
        full = ".".join((self.imported[first], *rest)) if first in self.imported else ""
        return full if full.partition(".")[0] not in OURS else ""

    def private(self) -> Iterator[str]:
        """Private names of others: imported, read, or used by our subclasses of their classes."""
        used = {*self.modules, *self.imported.values()}
        attributes = (
            node for node in self.nodes if isinstance(node, ast.Attribute) and is_private(node.attr)
        )
        used |= set(map(self.foreign, attributes))
        for name in used - DOCUMENTED:
            package, *names = name.split(".")
            if package not in OURS and any(map(is_private, (package, *names))):
                yield name
        for node in self.nodes:
            bases = [*filter(None, map(self.foreign, node.bases))] if isinstance(node, ast.ClassDef) else []
            names_here = set(filter(is_private, own_names(node))) - TO_DEFINE if bases else set()
            for base in bases if names_here else ():
                yield from (f"{base}: self.{name}" for name in names_here & private_of(base))

    def set_on_others(self) -> Iterator[str]:
        """Attributes of others' modules and classes, and modules themselves, that are set or deleted."""
        for target in (target for node in self.nodes for target in targets(node)):
            if isinstance(target, ast.Attribute) and (name := self.foreign(target.value)):
                if not SETTINGS.fullmatch(f"{name}.{target.attr}"):
                    yield f"{name}.{target.attr}"
            elif isinstance(target, ast.Subscript) and self.foreign(target.value) == "sys.modules":
                yield "sys.modules[…]"

    def undeclared(self) -> Iterator[str]:
        """Packages that are imported and that no declared distribution holds."""
        for name in {module.partition(".")[0] for module in self.modules} - OURS - sys.stdlib_module_names:
            holders = {normal(each) for each in distributions().get(name, ())} | {normal(name)}
            if not holders & declared():
                yield name


def own_names(node: ast.ClassDef) -> set[str]:
    """What a class calls its own: attributes of `self`, and its functions."""
    functions = (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return {each.name for each in functions} | {
        each.attr for each in attributes if dotted(each)[:1] == ["self"]
    }


@functools.cache
def private_of(base: str) -> set[str]:
    """The private attributes that a class of another package has, or sets on itself."""
    module, _, name = base.rpartition(".")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return set()
    names: set[str] = set()
    for each in inspect.getmro(kind) if inspect.isclass(kind) else ():
        if each.__module__.partition(".")[0] in {"builtins", "typing", "abc", "ctypes", "enum", *OURS}:
            continue
        names |= {attribute for attribute in vars(each) if is_private(attribute)}
        try:
            names |= set(re.findall(r"self\.(_[a-z]\w*)", inspect.getsource(each)))
        except (OSError, TypeError):
            continue
    return names


distributions = functools.cache(packages_distributions)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def declared() -> frozenset[str]:
    """What the kernel declares, and what each of the packages adds."""
    files = (ROOT / "pyproject.toml", *(ROOT / "packages" / part / "pyproject.toml" for part in PARTS))
    projects = [tomllib.loads(file.read_text(encoding="utf-8"))["project"] for file in files]
    lines = [
        line
        for project in projects
        for of in (project["dependencies"], *project.get("optional-dependencies", {}).values())
        for line in of
    ]
    return frozenset(normal(re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]) for line in lines)


def found(ask: Callable[[Module], Iterator[str]]) -> dict[str, list[str]]:
    """What `ask` finds in our modules, by their paths."""
    sources = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    asked = {path.relative_to(ROOT).as_posix(): findings(path)[ask] for path in sources}
    return {path: names for path, names in asked.items() if names}


@functools.cache
def findings(path: Path) -> dict[Callable[[Module], Iterator[str]], list[str]]:
    """What each question finds in a module; its syntax tree is not kept, as all are a million objects."""
    module = Module(path.read_text(encoding="utf-8"))
    return {ask: sorted({*ask(module)}) for ask in (Module.private, Module.set_on_others, Module.undeclared)}


def test_no_private_name_of_another_package_is_used() -> None:
    assert found(Module.private) == {}


def test_nothing_is_set_on_another_packages_module_or_class() -> None:
    # A plug-in file's module is entered while it runs, as Python's own guide to importing a file has it.
    assert found(Module.set_on_others) == {"tools/gnomon_tools/core/outside.py": ["sys.modules[…]"]}


def test_what_is_imported_is_declared() -> None:
    assert found(Module.undeclared) == {}


PRIVATE = """
from mcp.client._transport import TransportStreams
from rq import Worker
import numpy as np

class Own(Worker):
    def stop(self):
        self._horse_pid, self._own = 0, np._core
"""
SET = """
import sys, httpx, json as j
from pydantic import BaseModel
BaseModel.model_config = {}
httpx.Client.send, own = None, 1
setattr(j, "loads", own)
sys.modules["redis"] = None
del httpx.get
own.attribute = 1
"""


def test_each_use_that_is_forbidden_is_found() -> None:
    private = {"mcp.client._transport", "mcp.client._transport.TransportStreams", "numpy._core"}
    assert set(Module(PRIVATE).private()) == private | {"rq.Worker: self._horse_pid"}
    assert set(Module(SET).set_on_others()) == {
        *("pydantic.BaseModel.model_config", "httpx.Client.send", "json.…", "sys.modules[…]", "httpx.get"),
    }
    assert set(
        Module("import yarl.x\nimport os, numpy\nfrom gnomon_tools.core import tool").undeclared()
    ) == {"yarl"}
