"""Reads a field of the samples that a user names, such as the cluster, and counts the trials without it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.clusters import cluster_text, read_cluster
from gnomon.core.errors import SpecError

MOST_LISTED = 20


@dataclass(slots=True)
class NamedField:
    """A field by its name, and the option that names it; it counts each trial that it is read of.

    Of `more` fields there are all the values as one text: clusters by several factors.

    >>> video = NamedField("--cluster", "video")
    >>> [video.of({"video": 7, "kind": "near"}), video.of({"kind": "far"})], video.lacking, video.trials
    (['7', ''], 1, 2)
    """

    option: str
    name: str
    trials: int = 0
    lacking: int = 0
    there_are: dict[str, None] = field(default_factory=dict)
    more: "tuple[NamedField, ...]" = ()

    def of(self, fields: Mapping[str, Any]) -> str:
        """Its value as text, a list as that of clusters; empty where a trial's fields have nothing in it."""
        own = self._own(fields)
        return cluster_text([own, *(each.of(fields) for each in self.more)]) if self.more else own

    def _own(self, fields: Mapping[str, Any]) -> str:
        held = [name for name, value in fields.items() if value is not None and value != ""]
        self.there_are |= dict.fromkeys(held)
        self.trials += 1
        if self.name in held:
            value = fields[self.name]
            return str(read_cluster(value) if isinstance(value, list) else value)
        self.lacking += 1
        return ""

    def check(self) -> None:
        """Refuse a name that no trial has, which is likely misspelt.

        Raises:
            SpecError: no trial has it; lists the fields there are.
        """
        if self.trials and self.lacking == self.trials:
            names = list(self.there_are)
            listed = ", ".join(name[:40] for name in names[:MOST_LISTED]) or "none"
            more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
            raise SpecError(
                f"none of {self.trials:,} trials has the field {self.name!r}; there are: {listed}{more}",
                field=self.option,
            )
