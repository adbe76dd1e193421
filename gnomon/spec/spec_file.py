"""Reads a spec file, YAML or JSON, as plain data, unchecked; apart from the spec, as workers read no YAML."""

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from gnomon.core.errors import SpecError

MAX_SPEC_BYTES = 1_000_000


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
        keys = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        twice = next((key for key, times in keys.items() if times > 1), None)
        if twice is not None:
            message = f"the key {twice!r} is given twice"
            raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
        return super().construct_mapping(node, deep)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not allowed in a spec")
        return super().compose_node(parent, index)


def load_yaml(text: str) -> object:
    """Parse YAML, and so JSON, safely.

    >>> load_yaml("repeats: 2")
    {'repeats': 2}

    Raises:
        SpecError: it is not YAML, nests too deep, gives a key twice, or uses aliases.
    """
    try:
        return yaml.load(text, Loader=_NoAliases)  # noqa: S506 (a safe loader, made safer)
    except Exception as error:  # noqa: BLE001 PyYAML lets other errors pass, as for the date 2026-13-45
        line = " ".join(str(error).split())
        raise SpecError(f"not valid YAML or JSON: {line}", field="SPEC") from None
