"""What our modules hold, import, and do with names of other packages; each is read once for all tests."""

import ast
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from gnomon_tools.core.registry import Registry

ROOT = Path(__file__).parents[1]
LAYERS = ("tools", "agents", "workers", "service")
PARTS = ("trips", "worlds", "published", "formats", "rooms", "analyses", "outside", "workbench")
FOLDERS = {  # of our packages, by their names
    **{f"gnomon_{name}": ROOT / name / f"gnomon_{name}" for name in LAYERS},
    **{f"gnomon_{name}": ROOT / "packages" / name / f"gnomon_{name}" for name in PARTS},
    **{name: ROOT / name for name in ("gnomon", "gnomon_conformance", "gnomon_lab")},
}
MODULES = sorted(path for folder in FOLDERS.values() for path in folder.rglob("*.py"))
OURS = {*FOLDERS, "bench", "scripts", "tests", "conftest"}
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

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = [node for node in ast.walk(tree) if isinstance(node, ASKED)]
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


@cache
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


distributions = cache(packages_distributions)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
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


@dataclass(frozen=True)
class Source:
    """What tests ask of a module; its syntax tree is not kept, as all of them are a million objects."""

    lines: int
    has_purpose: bool
    holds: frozenset[type[ast.stmt]]
    imports: frozenset[tuple[str, str]]  # what may be a module, and the module if it is none
    registered: frozenset[str]  # packages in which it lets a registry find modules by their names
    private: frozenset[str]  # of other packages
    set_on_others: frozenset[str]
    undeclared: frozenset[str]


@cache
def source_of(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    module = Module(tree)
    imports, registered = set(), set()
    for node in module.nodes:
        match node:
            case ast.Import(names=names):
                imports |= {(alias.name, alias.name) for alias in names}
            case ast.ImportFrom(module=str(whole), names=names):
                imports |= {(f"{whole}.{alias.name}", whole) for alias in names}
            case ast.Call(func=ast.Name(id=Registry.__name__), args=[ast.Constant(value=str(package)), *_]):
                registered.add(package)
    return Source(
        lines=len(text.splitlines()),
        has_purpose=bool(ast.get_docstring(tree)),
        holds=frozenset(map(type, tree.body)),
        imports=frozenset(imports),
        registered=frozenset(registered),
        private=frozenset(module.private()),
        set_on_others=frozenset(module.set_on_others()),
        undeclared=frozenset(module.undeclared()),
    )


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    first = next(at for at, part in enumerate(parts) if part.startswith("gnomon"))
    return ".".join(parts[first:]).removesuffix(".__init__")
