"""Writes the package of a new plug-in: one module, its tests, a job that uses it, and how to install it."""

import keyword
import string
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gnomon.core.errors import Conflict, SpecError
from gnomon.spec.pins import KINDS
from gnomon_tools.core.outside import find_module
from gnomon_tools.core.registry import NAME

FILES = {  # in the package, by the text that it is made of
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "readme.md.txt",
    "{name}.py": "{kind}.py.txt",
    "job.yaml": "{kind}.yaml.txt",
    "tests/test_{name}.py": "{kind}_test.py.txt",
}


ALLOWED = (
    "a letter, then letters, digits and _, up to 64 characters, no two _ side by side, no word of Python"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPlugin:
    """What was written: the folder, and the files in it."""

    folder: Path
    files: tuple[str, ...]


def write_plugin(kind: str, name: str, out: Path) -> NewPlugin:
    """Write the package of a plug-in called `name` into the folder `out`/`name`.

    Raises:
        SpecError: the name is no identifier, or means something already.
        Conflict: the folder is there.
    """
    _check_name(kind, name)
    folder = out / name
    if folder.exists():
        raise Conflict(f"{folder} is there already; nothing was written", field="NAME")
    words = {
        "name": name,
        "kind": kind,
        "a_kind": f"{'an' if kind == 'agent' else 'a'} {kind}",
        "group": KINDS[f"{kind}s"].group,
        "distribution": name.replace("_", "-"),
        "Class": "".join(part[:1].upper() + part[1:] for part in name.split("_")),
    }
    written = []
    for path, template in FILES.items():
        file = folder / path.format(name=name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_filled(template.format(kind=kind), words), encoding="utf-8")
        written.append(file.relative_to(folder).as_posix())
    return NewPlugin(folder=folder, files=tuple(written))


def _filled(template: str, words: dict[str, str]) -> str:
    text = resources.files("gnomon_workbench.new_plugin").joinpath(template).read_text(encoding="utf-8")
    return string.Template(text).substitute(words)


def _check_name(kind: str, name: str) -> None:
    registry = KINDS[f"{kind}s"]
    if not NAME.fullmatch(name) or not name.isidentifier() or keyword.iskeyword(name):
        raise SpecError(f"{name!r} is no name for a module; allowed: {ALLOWED}", field="NAME")
    for taken in (name, name.replace("_", "-")):
        if taken in registry:
            whose = registry.whose(taken) or "Gnomon itself"
            raise SpecError(f"there is a {registry.noun} {taken!r} already, of {whose}", field="NAME")
    if find_module(name) is not None:
        raise SpecError(f"{name!r} is the name of a Python module that is installed here", field="NAME")
