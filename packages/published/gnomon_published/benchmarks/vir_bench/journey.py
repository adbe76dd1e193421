"""Reads and checks one published row: the nodes and edges of a video's graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnomon.core.errors import DataError
from gnomon_tools.core import python_source

Language = Literal["en", "ja"]
ROOT = "0"
UNKNOWN: Mapping[Language, str] = {"en": "Unknown", "ja": "不明"}
STORE_UNKNOWN: Mapping[Language, str] = {"ja": "(店舗不明)", "en": "(Store Unknown)"}
MAX_LITERAL = 200_000  # characters of one node's text

_KINDS = {"INCLUSION": "inclusion", "TRANSITION": "transition"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A node: an area or, with `level` "points_of_interest", a place. Seconds are those of the video."""

    id: str
    level: Literal["root", "prefectures", "cities", "points_of_interest"]
    ja: str
    en: str
    start_s: float = 0.0
    end_s: float = 0.0
    is_unknown: bool = False
    is_store_unknown: bool = False
    store_name: str = ""
    category: str = ""
    types: tuple[str, ...] = ()

    @property
    def is_nameless(self) -> bool:
        """Whether it is a place without a name in either language, which no rule counts."""
        return self.level == "points_of_interest" and not self.ja and not self.en

    def name(self, language: Language = "en") -> str:
        """The name that prompts and edges use; unknown places are named by their category.

        >>> Spot(id="4", level="points_of_interest", ja="カフェ", en="A cafe", is_unknown=True,
        ...      category="cafe").name()
        'Unknown (cafe)'
        """
        name = self.ja if language == "ja" else self.en
        if self.level != "points_of_interest":
            return name
        if self.is_unknown:
            return f"{UNKNOWN[language]} ({self.category})"
        if self.is_store_unknown:
            return without_suffix(name)
        return self.store_name or name.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An edge between two spots, by ids; overlaps and edges out of the root are kept, scoring skips them."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """The spots in the published order, by id, and the links between them; the language it is asked in."""

    spots: Mapping[str, Spot]
    links: Sequence[Link]
    language: Language = "en"

    def at(self, level: str) -> list[Spot]:
        return [spot for spot in self.spots.values() if spot.level == level and not spot.is_nameless]

    def gold_nodes(self) -> dict[str, list[Spot]]:
        """What node prediction asks for: unknown places cannot be asked for."""
        return {
            "prefectures": self.at("prefectures"),
            "cities": self.at("cities"),
            "points_of_interest": [spot for spot in self.at("points_of_interest") if not spot.is_unknown],
        }

    def gold_links(self) -> list[Link]:
        """What edge prediction asks for: no overlaps, nothing out of the root, nothing nameless."""
        return [
            link
            for link in self.links
            if link.kind in _KINDS.values()
            and link.source != ROOT
            and not self.spots[link.source].is_nameless
            and not self.spots[link.target].is_nameless
        ]

    def gold_edges(self) -> list[dict[str, str]]:
        """The same as a model would write it, by names."""
        return [
            {
                "source": self.spots[link.source].name(self.language),
                "target": self.spots[link.target].name(self.language),
                "type": link.kind,
            }
            for link in self.gold_links()
        ]


def journey_from_json(graph: object, *, language: Language = "en") -> Journey:
    """Read the published `graph`; its texts are Python literals, and read as nothing more.

    Raises:
        DataError: the graph is malformed; the message names the field and what is wrong.
    """
    if not isinstance(graph, Mapping):
        raise DataError(f"no object but {type(graph).__name__}", field="graph")
    nodes = _columns(graph.get("nodes"), ("id", "type", "display_name", "attributes"), "graph.nodes")
    edges = _columns(graph.get("edges"), ("source", "target", "type"), "graph.edges")
    spots = {spot.id: spot for spot in (_spot(*row) for row in nodes)}
    links = [
        Link(source=str(source), target=str(target), kind=_KINDS.get(str(kind), str(kind).lower()))
        for source, target, kind in edges
    ]
    for link in links:
        for end in (link.source, link.target):
            if end not in spots:
                raise DataError(f"an edge names node {end!r:.40}, which is not there", field="graph.edges")
    return Journey(spots=spots, links=links, language=language)


def without_suffix(name: str) -> str:
    """A name without the remark that the branch is unknown.

    >>> without_suffix("Starbucks (Store Unknown)")
    'Starbucks'
    """
    for suffix in STORE_UNKNOWN.values():
        name = name.replace(suffix, "")
    return name.strip()


def _columns(table: object, names: Sequence[str], where: str) -> list[tuple[Any, ...]]:
    if not isinstance(table, Mapping):
        raise DataError(f"no object but {type(table).__name__}", field=where)
    columns = [table.get(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if not isinstance(column, Sequence) or isinstance(column, str):
            raise DataError("no list", field=f"{where}.{name}")
    lists = [list(column) for column in columns if column is not None]
    if len({len(column) for column in lists}) > 1:
        raise DataError("its lists differ in length", field=where)
    return list(zip(*lists, strict=True))


def _spot(identity: object, kind: object, names: object, attributes: object) -> Spot:
    where = f"node {identity!r:.20}"
    display_names = _literal(names, f"{where}.display_name")
    ja, en = (str(display_names.get(language) or "") for language in ("ja", "en"))
    if kind == "ROOT":
        return Spot(id=str(identity), level="root", ja=ja, en=en)
    if kind == "PREFECTURE":
        return Spot(id=str(identity), level="prefectures", ja=ja, en=en)
    if kind == "CITY":
        return Spot(id=str(identity), level="cities", ja=ja, en=en)
    fields = _literal(attributes, f"{where}.attributes")
    parsed, details = fields.get("parsed_description"), fields.get("details_parsed") or {}
    if not isinstance(parsed, Mapping) or not isinstance(details, Mapping):
        raise DataError("a place without parsed_description", field=f"{where}.attributes")
    return Spot(
        id=str(identity),
        level="points_of_interest",
        ja=ja,
        en=en,
        start_s=_seconds(fields.get("start")),
        end_s=_seconds(fields.get("end")),
        is_unknown=bool(parsed.get("is_unknown")),
        is_store_unknown=bool(parsed.get("is_store_unknown")),
        store_name=str(parsed.get("store_name") or ""),
        category=str(parsed.get("category") or ""),
        types=tuple(str(kind) for kind in details.get("types") or ()),
    )


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _literal(literal: object, where: str) -> Mapping[str, Any]:
    """A dictionary, or the text of one."""
    if isinstance(literal, str):
        if len(literal) > MAX_LITERAL:
            raise DataError(f"a text of {len(literal):,} characters", field=where)
        try:
            literal = python_source.literal(literal)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            raise DataError("no Python literal", field=where) from None
    if not isinstance(literal, Mapping):
        raise DataError(f"no dictionary but {type(literal).__name__}", field=where)
    return literal
