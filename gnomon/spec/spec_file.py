"""Reads a spec file, YAML or JSON, as plain data, unchecked; apart from the spec, as workers read no YAML."""

from pathlib import Path

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
    """YAML without aliases: a few bytes of them can become gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not allowed in a spec")
        return super().compose_node(parent, index)


def load_yaml(text: str) -> object:
    """Parse YAML, and so JSON, safely.

    >>> load_yaml("repeats: 2")
    {'repeats': 2}

    Raises:
        SpecError: it is not YAML, nests too deep, or uses aliases.
    """
    try:
        return yaml.load(text, Loader=_NoAliases)  # noqa: S506 (a safe loader, made safer)
    except Exception as error:  # noqa: BLE001 PyYAML lets other errors pass, as for the date 2026-13-45
        line = " ".join(str(error).split())
        raise SpecError(f"not valid YAML or JSON: {line}", field="SPEC") from None
