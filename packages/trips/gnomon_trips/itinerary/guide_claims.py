"""Reads a guide: its sentences, and the claims in each, in English and Japanese."""

import functools
import re
from collections.abc import Callable, Collection

from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.reasons import CLOCK, NAME, NEAR, NEXT_TO, Claim, Sort, claims_in, minutes_in

_CLOCK = r"(\d{1,2}[:時]\d{0,2}分?)"
_KINDS = {
    "美術館": "museum", "博物館": "museum", "画廊": "gallery", "公園": "park", "庭園": "garden",
    "寺院": "temple", "神社": "shrine", "教会": "church", "図書館": "library", "劇場": "theatre",
    "動物園": "zoo", "城": "castle",
    "展望台": "viewpoint", "市場": "market", "レストラン": "restaurant", "カフェ": "cafe", "喫茶店": "cafe",
    "ホテル": "hotel", "駅": "station",
}  # fmt: skip
_MEALS = {"朝食": "breakfast", "昼食": "lunch", "ランチ": "lunch", "夕食": "dinner", "ディナー": "dinner"}
_DAYS = "月火水木金土日"
_UNITS = {"m": 1.0, "メートル": 1.0, "km": 1000.0, "キロメートル": 1000.0, "キロ": 1000.0}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_FROM = r"(?:{name}(?:から|より|まで|へ)(?:は|の)?)?"
_GAP = r"[^\d。、分mキメ]{{0,8}}?"
_WIDE = str.maketrans("０１２３４５６７８９：〜～－", "0123456789:~~-")
NO_NAME = r"((?!))"

Match = re.Match[str]


def claims_in_japanese(sentence: str, names: Collection[str]) -> list[Claim]:
    """The claims in a sentence; only these names are places. A remaining digit is a bare number.

    >>> [(claim.sort, claim.value) for claim in claims_in_japanese("営業は9:00から17時30分までです。", [])]
    [('open', 540.0)]
    >>> [(claim.sort, claim.value, claim.name) for claim in claims_in_japanese("駅から徒歩5分です。", [])]
    [('minutes', 5.0, '')]
    """
    claims: list[Claim] = []
    rest = sentence.translate(_WIDE)
    for pattern, read in _readers(
        tuple(sorted({name for name in names if name}, key=lambda n: (-len(n), n)))
    ):
        claims += [read(match) for match in pattern.finditer(rest)]
        rest = pattern.sub(lambda match: "　" * len(match[0]), rest)
    return [*claims, *(Claim(sort="number", words=match[0]) for match in re.finditer(r"\d[\d.,:]*", rest))]


def _clock(words: str) -> float:
    hour, _, rest = words.replace("時", ":").partition(":")
    return 60.0 * int(hour) + float(re.sub(r"\D", "", rest) or 0)


def _at(sort: Sort) -> Callable[[Match], Claim]:
    return lambda match: Claim(sort=sort, words=match[0], value=_clock(match[1]))


def _plain(sort: Sort) -> Callable[[Match], Claim]:
    return lambda match: Claim(sort=sort, words=match[0])


def _named(sort: Sort) -> Callable[[Match], Claim]:
    return lambda match: Claim(sort=sort, words=match[0], name=match[1])


def _open(match: Match) -> Claim:
    return Claim(sort="open", words=match[0], value=_clock(match[1]), until=_clock(match[2]))


def _closed_on(match: Match) -> Claim:
    return Claim(sort="closed_on", words=match[0], value=_DAYS.index(match[1] or match[2]), until=0.0)


def _metres(match: Match) -> Claim:
    metres = float(match[2].replace(",", "")) * _UNITS[match[3]]
    return Claim(sort="metres", words=match[0], value=metres, name=match[1] or "")


def _minutes(match: Match) -> Claim:
    minutes = 60.0 * int(match[2] or 0) + float(match[3])
    return Claim(sort="minutes", words=match[0], value=minutes, name=match[1] or "")


def _price(match: Match) -> Claim:
    return Claim(sort="price", words=match[0], value=float(match[1].replace(",", "")))


def _near(match: Match) -> Claim:
    reach = NEAR if match[2] == "近く" else NEXT_TO
    return Claim(sort="near", words=match[0], value=reach, name=match[1])


_PATTERNS: tuple[tuple[str, Callable[[Match], Claim]], ...] = (
    (rf"(?:(?:営業|開館|開店)時間は)?{_CLOCK}\s*(?:から|[~-])\s*{_CLOCK}(?:まで)?", _open),
    (rf"{_CLOCK}に?(?:開館|開店|オープン)", _at("opens")),
    (rf"{_CLOCK}に?(?:閉館|閉店|まで開)", _at("closes")),
    (rf"{_CLOCK}に?(?:到着|着|開始|始ま)", _at("arrives")),
    (rf"{_CLOCK}に?(?:出発|発|終わ)", _at("leaves")),
    (rf"([{_DAYS}])曜日?は?(?:休館|定休|休み|休業)|定休日は?([{_DAYS}])曜", _closed_on),
    (r"24時間営業", _plain("always")),
    (rf"{_FROM}{_GAP}(?:(\d+)時間)?(\d+)分間?", _minutes),
    (rf"{_FROM}{_GAP}(\d[\d,]*(?:\.\d+)?)\s?({_UNIT})", _metres),
    (r"(\d[\d,]*)\s?(?:円|ユーロ)", _price),
    (r"無料", _plain("free")),
    (r"{name}の(?:すぐ)?(隣|向かい|そば|横|近く)", _near),
    (r"(?:次は|続いて|その後は?)、?\s*{name}", _named("next")),
    (r"{name}の(?:後|あと)", _named("after")),
    (r"^{name}(?:は|では|には)", _named("subject")),
    (r"ご?希望(?:の場所|された)|リクエスト", _plain("requested")),
    (rf"({'|'.join(_MEALS)})(?:は|に|を)", lambda m: Claim(sort="meal", words=_MEALS[m[1]])),
    (rf"({'|'.join(_KINDS)})(?:です|。|で、)", lambda m: Claim(sort="kind", words=_KINDS[m[1]])),
)
"""Each pattern with what it claims; what one has read the next ones do not see."""


@functools.lru_cache(maxsize=64)
def _readers(names: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], Callable[[Match], Claim]], ...]:
    name = rf"({'|'.join(map(re.escape, names))})" if names else NO_NAME
    return tuple(
        (re.compile(pattern.replace("{{", "{").replace("}}", "}").replace("{name}", name)), read)
        for pattern, read in _PATTERNS
    )


HIRAGANA = re.compile(r"[\u3041-\u309f]")
_END_JA = re.compile(r"(?<=[。！？!?])\s*")
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-Z0-9])")
_SHORT = re.compile(r"(?:\b(?:St|Mt|Dr|Mr|Mrs|Ms|No|ca|approx|e\.g|i\.e)|\b[A-Z])\.$")
"""What ends with a stop and ends no sentence."""
_ARRIVES = re.compile(
    rf"\b(?:arriv\w+|begins?|starts?|be there)(?: there)?(?: at| by| around)? {CLOCK}", re.IGNORECASE
)
_LEAVES = re.compile(rf"\b(?:leav\w+|ends?|move on)(?: at| by| around)? {CLOCK}", re.IGNORECASE)
_NEXT = re.compile(
    rf"\b(?:next(?: comes| is|:)?|then(?: comes)?|continue to|go on to|on to) (?-i:{NAME})", re.IGNORECASE
)
_AFTER = re.compile(rf"\b(?:after|coming from) (?-i:{NAME})", re.IGNORECASE)

_TIMES: tuple[tuple[re.Pattern[str], Sort], ...] = ((_ARRIVES, "arrives"), (_LEAVES, "leaves"))
_NEIGHBOURS: tuple[tuple[re.Pattern[str], Sort], ...] = ((_NEXT, "next"), (_AFTER, "after"))


def is_japanese(text: str) -> bool:
    """Whether a text is Japanese; a text with only its names in kanji is not."""
    return bool(HIRAGANA.search(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    >>> sentences("St. Mary's is near. It opens at 10.")
    ["St. Mary's is near.", 'It opens at 10.']
    >>> sentences("次は浅草寺です。徒歩5分。")
    ['次は浅草寺です。', '徒歩5分。']
    """
    parts = [part for part in (_END_JA if is_japanese(text) else _END).split(text.strip()) if part.strip()]
    joined: list[str] = []
    for part in parts:
        if joined and _SHORT.search(joined[-1]):
            joined[-1] += f" {part}"
        else:
            joined.append(part.strip())
    return joined


def guide_claims(sentence: str, names: Collection[str]) -> list[Claim]:
    """The claims in a sentence; in Japanese, places are known by these names alone.

    >>> [(claim.sort, claim.value) for claim in guide_claims("You arrive at 10:30.", [])]
    [('arrives', 630.0)]
    >>> [(claim.sort, claim.name) for claim in guide_claims("浅草寺から徒歩5分です。", ["浅草寺"])]
    [('minutes', '浅草寺')]
    """
    if is_japanese(sentence):
        return claims_in_japanese(sentence, names)
    claims: list[Claim] = []
    rest = sentence
    for pattern, sort in _TIMES:
        claims += [
            Claim(sort=sort, words=match[0], value=minutes_in(match[1])) for match in pattern.finditer(rest)
        ]
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    for pattern, sort in _NEIGHBOURS:
        claims += [Claim(sort=sort, words=m[0], name=m[1].strip(" .,")) for m in pattern.finditer(rest)]
    return [*claims, *claims_in(rest)]


def clock_of_number(claim: Claim) -> int | None:
    """The minutes of a bare number that is written as a time of day; None where it is none."""
    match = re.fullmatch(r"(\d{1,2}):(\d\d)", claim.words.strip("., "))
    return minutes_of(f"{int(match[1]):02d}:{match[2]}") if match else None
