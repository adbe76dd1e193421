"""Reads a spec file, YAML or JSON, as plain data, unchecked; apart from the spec, as workers read no YAML."""

import re
from pathlib import Path
from typing import Any

import yaml

from gnomon.core.errors import SpecError

MAX_SPEC_BYTES = 1_000_000
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_PLAIN = re.compile(r"[a-z_ <>-]{1,40}|.{1,3}")  # PyYAML's own words and signs, or a field's name


def read_spec(path: Path) -> object:
    """Read a YAML or JSON file into plain data, unchecked.

    Raises:
        SpecError: the file is absent, too large, or neither YAML nor JSON.
    """
    try:
        if path.stat().st_size > MAX_SPEC_BYTES:
            raise SpecError(f"{path} is larger than {MAX_SPEC_BYTES:,} bytes", field="SPEC")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SpecError(f"{path} cannot be read: {reason}", field="SPEC") from None
    return load_yaml(text)


class _NoAliases(yaml.SafeLoader):
    """YAML without aliases, as a few bytes of them can become gigabytes; no key may be given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in names:
                    message = f"the key {key.value!r} is given twice"
                    raise yaml.constructor.ConstructorError(None, None, message, key.start_mark)
                names.add(key.value)
        return super().construct_mapping(node, deep)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not allowed in a spec")
        return super().compose_node(parent, index)


def load_yaml(text: str) -> object:
    """Parse YAML, and so JSON, safely.

    Raises:
        SpecError: it is not YAML, nests too deep, gives a key twice, or uses aliases.
    """
    try:
        return yaml.load(text, Loader=_NoAliases)  # noqa: S506 (a safe loader, made safer)
    except Exception as error:  # noqa: BLE001 PyYAML lets other errors pass, as for the date 2026-13-45
        raise SpecError(f"not valid YAML or JSON: {_fault(error)}", field="SPEC") from None


def _fault(error: Exception) -> str:
    """Where and what is wrong, without the text itself: it may hold a key."""
    place, words = "", str(error)
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        words = ", ".join(filter(None, (error.context, error.problem)))
    shown = _QUOTED.sub(lambda quoted: quoted[0] if _PLAIN.fullmatch(quoted[0][1:-1]) else "…", words)
    return place + " ".join(shown.split())
