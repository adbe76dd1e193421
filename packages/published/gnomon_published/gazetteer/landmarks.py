"""The landmarks of Japan's travelled cities: sights by name in both scripts, with position and importance.

Facts of Wikidata, Wikipedia and PLATEAU, packed by scripts/build_landmarks.py; data/ATTRIBUTION.md tells the
licence of each file.
"""

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files

from gnomon_published.gazetteer.spelling import latin_key

FILES = ("landmarks.csv", "landmarks-wikipedia.csv", "landmarks-plateau.csv")
ATTRIBUTION = (
    "Landmarks: Wikidata (CC0), positions of some from English Wikipedia (CC BY-SA 4.0) and Project PLATEAU,"
    " MLIT (CC BY 4.0)"
)
ID = "jp:landmark:"
FULL, WITHOUT_KIND_WORD = 1.0, 0.95
LEAST_LIKENESS, SHORTEST = 0.84, 6
"""How alike a misspelt name must be, by difflib's ratio, and how many letters it needs."""

_FORMS = str.maketrans("龍國嚴澤濱瀧溪圓樂佛廣祗涼邊", "竜国厳沢浜滝渓円楽仏広祇凉辺")
"""Old forms of characters, and others of the same reading, as the new ones."""
_KIND_WORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("temple", "shrine", "jinja"), ("temple", "shrine")),
    **dict.fromkeys(("garden", "gardens", "park"), ("garden", "park")),
    **dict.fromkeys(("museum", "gallery"), ("museum",)),
    **dict.fromkeys(("market",), ("market",)),
    **dict.fromkeys(("street", "alley", "dori", "road"), ("street",)),
    **dict.fromkeys(("castle", "palace"), ("castle", "palace")),
    **dict.fromkeys(("district", "area", "quarter"), ("district",)),
    **dict.fromkeys(("tower", "building", "observatory"), ("tower", "building", "viewpoint")),
    **dict.fromkeys(("bridge", "gate", "zoo", "aquarium"), ("bridge", "gate", "zoo", "aquarium")),
}
"""A last word that says what it is, and the kinds of landmark that may be meant."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """A sight. `importance` is this project's judgement: 5 known the world over, 1 known round the corner."""

    id: str
    kind: str
    city: str
    importance: int
    name_en: str
    name_ja: str
    also: tuple[str, ...]
    lat_deg: float
    lon_deg: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Landmarks:
    """All landmarks, by id and by the keys of their names."""

    by_id: Mapping[str, Landmark]
    named: Mapping[str, Sequence[Landmark]]
    unplaced: Mapping[str, str]  # by key of a name: sights that no source with a licence places


@cache
def landmarks() -> Landmarks:
    """Read them, once per process: some hundred rows."""
    by_id = {entry.id: entry for name in FILES for entry in map(_landmark, _rows(name))}
    named: dict[str, list[Landmark]] = defaultdict(list)
    for entry in by_id.values():
        for key in dict.fromkeys(map(landmark_key, (entry.name_en, entry.name_ja, *entry.also))):
            named[key].append(entry)
    unplaced = {
        landmark_key(name): row["name_en"]
        for row in _rows("landmarks-unplaced.csv")
        for name in (row["name_en"], row["name_ja"], *filter(None, row["aliases"].split(";")))
    }
    return Landmarks(by_id=by_id, named=named, unplaced=unplaced)


def _rows(name: str) -> list[dict[str, str]]:
    text = files("gnomon_published.gazetteer").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _landmark(row: Mapping[str, str]) -> Landmark:
    return Landmark(
        id=ID + row["id"].removeprefix("plateau:"),
        kind=row["kind"],
        city=row["city"],
        importance=int(row["importance"]),
        name_en=row["name_en"],
        name_ja=row["name_ja"],
        also=tuple(filter(None, row["aliases"].split(";"))),
        lat_deg=float(row["lat"]),
        lon_deg=float(row["lon"]),
    )


def landmark_key(name: str) -> str:
    """A name without what its spellings differ in: marks, blanks, long vowels, old forms of characters.

    >>> landmark_key("Sensō-ji"), landmark_key("the Senso ji"), landmark_key("龍安寺")
    ('sensoji', 'sensoji', '竜安寺')
    """
    text = unicodedata.normalize("NFKC", name).strip()
    if _CJK.search(text):
        return re.sub(r"[\s・]+", "", text).replace("ヶ", "ケ").translate(_FORMS).casefold()
    return latin_key(re.sub(r"^the\s+", "", text, flags=re.IGNORECASE).replace("'", "").replace("’", ""))


def landmarks_named(name: str) -> list[tuple[Landmark, float]]:
    """The landmarks of that name, with how well it fits: 1, or 0.95 where the city or the kind differs.

    >>> [(entry.name_ja, fit) for entry, fit in landmarks_named("Sensoji Temple")]
    [('浅草寺', 0.95)]
    >>> [entry.name_en for entry, _ in landmarks_named("Disneyland")], landmarks_named("Sensoji Station")
    (['Tokyo Disneyland'], [])
    """
    named = landmarks().named
    exact = named.get(landmark_key(name), ())
    if exact:
        return [(entry, FULL) for entry in exact]
    beside = [
        (entry, WITHOUT_KIND_WORD)
        for city in ("Tokyo", "Kyoto", "Osaka", "Nara")
        for text in {f"{city} {name}", name.removeprefix(f"{city} "), re.sub(rf",? {city}$", "", name)}
        - {name}
        for entry in named.get(landmark_key(text), ())
        if entry.city == city
    ]
    if beside:
        return beside
    words = re.split(r"[\s\-]+", name.strip())
    kinds = _KIND_WORDS.get(words[-1].casefold(), ()) if len(words) > 1 else ()
    stem = named.get(landmark_key(" ".join(words[:-1])), ()) if kinds else ()
    return [(entry, WITHOUT_KIND_WORD) for entry in stem if entry.kind in kinds]


def unplaced_landmark(name: str) -> str | None:
    """The sight of that name whose position is in no source here.

    >>> unplaced_landmark("Todaiji Temple"), unplaced_landmark("東大寺"), unplaced_landmark("浅草寺")
    ('Tōdai-ji', 'Tōdai-ji', None)
    """
    unplaced = landmarks().unplaced
    head, _, last = name.strip().rpartition(" ")
    stem = unplaced.get(landmark_key(head)) if last.casefold() in _KIND_WORDS else None
    return unplaced.get(landmark_key(name)) or stem


def landmarks_spelt_like(name: str) -> Iterator[tuple[Landmark, float]]:
    """Landmarks whose name is nearly spelt so, with how alike the two are.

    >>> max(landmarks_spelt_like("Kiyomizudeera"), key=lambda pair: pair[1])[0].name_ja
    '清水寺'
    """
    key = landmark_key(name)
    if len(key) < SHORTEST or _CJK.search(key):
        return
    matcher = SequenceMatcher(b=key, autojunk=False)
    for other, entries in landmarks().named.items():
        if other[:1] != key[0] or abs(len(other) - len(key)) > 3 or _CJK.search(other):
            continue  # another first letter is another temple: Tōdai-ji is not Kōdai-ji
        matcher.set_seq1(other)
        if matcher.quick_ratio() >= LEAST_LIKENESS and (ratio := matcher.ratio()) >= LEAST_LIKENESS:
            for entry in entries:
                yield entry, round(ratio, 3)
