"""Reads one number out of a text, in the asked unit where there is one."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from gnomon.reading.characters import holds_any, without_denied, without_marks
from gnomon.reading.languages import with_plain_marks
from gnomon.reading.number_words import from_json, in_digits
from gnomon.reading.reader import AMBIGUOUS, Reading, Unclear, read_value
from gnomon.reading.units import UNITS, Unit, converted, unit_in, unit_of

MAX_TEXT = 4_000  # characters of a text in which numbers are looked for: its beginning and its end
MAX_BOUND = 40  # characters from a number within which it may be called a bound
MAX_LABEL = 80  # characters before a number in which its unit may be named
SAME = 0.05  # by how much a value in another unit may be rounded beside the same value
_SPACE = "\u00a0\u2009\u202f\u2007 "
_GROUP = rf"['’_{_SPACE}]"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_DIGITS = (
    rf"(?=\d{{1,3}}(?:[.,]|{_GROUP})\d\d)(?:"  # parted by marks
    r"\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,15})?(?![\d,]*\d)|\d{1,3}(?:\.\d{3}){1,6},\d{1,15}|\d{1,3}(?:\.\d{3}){2,6}"
    r"|\d{1,2}(?:,\d{2}){1,5},\d{3}(?![\d,]*\d)"
    rf"|\d{{1,3}}(?:{_GROUP}\d{{3}}){{1,6}}(?:[.,]\d{{1,15}})?(?!\d))"
    rf"|\d{{1,18}}(?:[.,]\d{{1,15}})?|\.\d{{1,15}}"
)
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9À-ӿ_.,^])(?:(?P<sign>[-+−–])\s?)?"
    rf"(?:(?:(?P<whole>\d{{1,6}})\s+)?(?P<top>\d{{1,6}})\s?[/⁄]\s?(?P<bottom>\d{{1,6}})(?![\d/.])"
    rf"|(?P<digits>{_DIGITS})(?:\s?(?P<vulgar>[{_VULGAR}]))?|\s?(?P<alone>[{_VULGAR}]))"
    r"(?:[eE](?P<e>[-+−]?\d{1,3})|\s?[×x·*]\s?10\s?(?:\^|\*\*)\s?\{?(?P<ten>[-+−]?\d{1,3})\}?|\^\{?(?P<power>[-+−]?\d{1,3})\}?)?"
    r"(?:\s?(?=[kmbtMTтм万萬亿億])(?P<times>k(?![^\W\d_])|[万萬亿億]|(?:thousand|million|billion|[tT]ausend|[tT]sd|Mio|mil|millions?|Millionen|тыс|млн)\b\.?))?"
    rf"(?:(?:[{_SPACE}]|-(?=[A-Za-z]))?(?P<unit>°\s?[CF]?(?![A-Za-z])|%|[^\W\d_](?:[\w/²³°]|-(?!\d)){{0,20}}))?"
)
_BRACKETED_UNIT = re.compile(r"(?<=\d)\s?[(\[]([^\W\d_][\w/²³]{0,15})[)\]]")
_LABEL_UNIT = re.compile(
    r"(?:\bin|[(\[_])\s?([^\W\d_][\w/²³]{0,15})[)\]]?[*_,]{0,3}\s?(?:is|was|are|[:=≈|])"
    r"[\s*_$:]*(?:about|approximately|roughly|around|[~≈])?\s*$"
)
_DIGIT = re.compile(rf"[\d{_VULGAR}]")
_TIMES = {**dict.fromkeys(("k", "thousand", "tausend", "tsd", "mil", "тыс"), 1e3), "billion": 1e9}
_TIMES |= {**dict.fromkeys("万萬", 1e4), **dict.fromkeys("亿億", 1e8)}
_SCALES = {"K": "thousand", "M": "million", "B": "billion"}
_SUPERSCRIPT = re.compile(r"10([⁺⁻]?[⁰¹²³⁴-⁹]{1,3})")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SQUARED = re.compile(r"(?<=[A-Za-z])(?:\^|\*\*)\{?([23])\}?")
# The check of what stands before a digit stands behind it: `re` skips to digits fast.
_HOURS = re.compile(
    r"(\d(?<![\d.].)\d{0,5}(?:\.\d{1,6})?)\s?h(?:ou?rs?|rs?|eures?)?\s?(\d{1,2})(?:\s?(?:m(?:in(?:ute)?s?)?|['′]))?(?![\w.,:]\w)(?![A-Za-z])"
)
_ONE = re.compile(
    r"\b(?:an?|one|eine|une|una|uma|один)(?=\s(?:hour|Stunde|heure|h?ora|час)(?:,?\s(?:and|und|et|y|e|и))?\s"
    r"(?:\d|demi|medi|mei|mezz|a half))",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,3}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?![\d:])(\s?(?:h|min)\w*)?")
_MINUTES = re.compile(r"(?<!\d)(\d{1,6})\s?[m'′]\s?(\d{1,2}(?:\.\d{1,6})?)\s?(?:s\b|[\"″])")
_MIN_S = re.compile(r"(\d\s?[Mm]in(?:ut\w{1,2})?\s\d{1,2})(?![\d.:]*\s?[^\W\d_]|[\d.:])")
_AND_HALF = re.compile(
    r"(\d(?<![\d.,].)\d{0,3})\s?([^\W\d_]{1,10}?)"
    r"(?:\s(?:and a half|et demie?|y medi[ao]|e mei[ao]|e mezz[ao]|с половиной)\b|\s?[半반])"
)
_HALF = re.compile(r"半[个個]?(?=[小時天日年])")
_ISO_SPAN = re.compile(r"\bPT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?\b")
_METRES = re.compile(r"(\d(?<![\d.,].)\d{0,2})\s?m\s?(\d{2})(?!\s?[\w.,%°²³])")
_MILLIONS = re.compile(r"(?<=\d)M(?=\s[a-z])")
_SCALE = re.compile(r"([KMB])(?<=\d.)(?![\w/])")
_PER = re.compile(
    r"(?<![^\W\d_])(?P<unit>kil[oóô]m\w{2,6}|km|m[eè]t\w{1,4}|miles?|feet|foot|ft|m)"
    r"(?:\s+(?:(?:per|an|pro|par|por|a la)\s+|à l['’]|all['’])"
    r"(?P<per>hour|second|sec|h|s|stunde|heure|hora|ora)|\s?[·⋅*]?\s?(?P<power>h|s)\s?(?:\^\{?[-−]1\}?|⁻¹))(?!\w)",
    re.IGNORECASE,
)
_PER_SIGNS = (" per ", " an ", " pro ", " par ", " por ", " a l", " all", " à l", "⁻", "^")
_SPEED_UNITS = {"ki": "km", "km": "km", "m": "m", "mi": "mi", "fe": "ft", "fo": "ft", "ft": "ft"}
_SQUARE = re.compile(
    r"(?:(?P<power>square|sq\.?|cubic|quadrat|kubik)[\s-]?)(?P<unit>[^\W\d_]+)|"
    r"(?P<first>[^\W\d_]{1,12})\s(?P<behind>carr|cuadrad|quadrad|quadrat|cubique|cúbic)\w*",
    re.IGNORECASE,
)
_LENGTHS = {1000: "km", 1: "m", 0.01: "cm", 1609.344: "mi", 0.3048: "ft"}
_DEGREES = re.compile(
    r"\s?(?:°|º|\bdeg(?:rees?)?\b)\s?(?:([CF])(?:elsius|ahrenheit)?\b|(?!\s?[CFK]\b))", re.IGNORECASE
)
_JOINED = re.compile(r"([\u3005-\u9fff\uac00-\ud7af])(?=\d)")
_CALL = re.compile(r"[A-Za-z_]\w*\([^()]*\)")
_MINUS = re.compile(r"\b(?:minus|negative)\s(?=\d)", re.IGNORECASE)
_FEET = re.compile(r"(?<!\d)(\d{1,6})\s?['′’]\s?(\d{1,3}(?:\.\d{1,6})?)\s?(?:[\"″”]|'')")
_SIGNED = rf"[-−]?(?:\d[\d.,]{{0,20}}|[{_VULGAR}])"
_MEASURE = r"(?:\s?[^\W\d_°%][\w/²³]{0,15}|\s?[°%][cf]?)?"
_RANGE = re.compile(
    rf"[\d{_VULGAR}](?<![\d.,].)[\d.,]{{0,20}}{_MEASURE}(?:\s?(?:\.\.\.?|…|[-–—~〜]|到|至|から)\s?\d"
    rf"|\s+(?:to|until|till|or|bis|oder|a|à|ou|o|до|или)\s+(?:about\s+|maybe\s+)?{_SIGNED})"
)
_BETWEEN = re.compile(rf"\b(?:between|entre|zwischen|между)\b.{{0,12}}{_SIGNED}")
_BOUND = re.compile(
    r"(?:\b(?:more|less|greater|fewer|larger|smaller|longer|shorter) than|\b(?:at least|at most|up to|"
    r"no more than|"
    r"under|over|"
    r"mehr als|weniger als|mindestens|höchstens|más de|menos de|plus de|moins de|более|менее|"
    r"至少|最多)|[<>≤≥≦≧])\s*(?=\d)|\d\s(?:or|and) (?:more|less|fewer|above|over)\b"
    r"|\d[^\d.,;]{0,15}\s(?:at (?:most|least)|minimum|maximum)\b"
)
_PLUS_MINUS = re.compile(rf"(?:±|\+/?-|,?\s(?:give or take|plus or minus)\s)\s?(?:{_DIGITS})")
_SPREAD = re.compile(
    r"\((?:range|between|from|uncertainty|error|accuracy|give or take)\b[^()]*\)", re.IGNORECASE
)
_BECAUSE = re.compile(
    r"\s(?:because|since|as|so|where|given that|but|though|although|while|"
    r"which(?!\s(?:gives|makes|equals|comes|amounts|adds|yields)\b)|weil|denn|porque|"
    r"ya que|pois|parce|car|потому|так как)\s|因为|なので"
)
_FIRST_THOUGHT = re.compile(
    r"\b(?:thought|guessed|assumed|expected|initially|at first|originally|looked|seemed)\b"
)
_NAMED_VALUES = re.compile(r"^\W*[A-Za-z]\w{0,10}\s?=\s?[^=,;]+[,;]\s?[A-Za-z]\w{0,10}\s?=")  # "x = 1, y = 2"
_ASIDE = re.compile(
    r"(?<=\w)\s\((?!(?:or|maybe|possibly|perhaps|no|wait|actually|rather|correction|alternatively|else)\b)[^()]*\)",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"=|≈|≃|≅|\bequals\b")
_EQUAL_SIGNS = ("=", "≈", "≃", "≅", "equals")
_OPERATOR = re.compile(
    r"[+×÷√^∑∫·]|(?<![A-Za-z/])/(?=\s*[\d(])|\*|\\(?:sqrt|sum|frac)|\b(?:sqrt|sin|cos|tan|log)\b|(?<=[\d)])\s*[−-]\s*(?=[\d(])"
)
_RECKONS = re.compile(r"[-+×÷√^∑∫·/*−–=]|\\(?:sqrt|sum|frac)|\b(?:sqrt|sin|cos|tan|log)\b|\([^)]*$")
_CUT = re.compile(r"[-+×÷*/^√(=−–]\s*$")


class Quantity(NamedTuple):
    """A number as it is written, the unit that stands behind it, and its place."""

    value: float
    unit: Unit | None
    start: int = 0
    end: int = 0


def quantities_in(text: str) -> list[Quantity]:
    """The numbers of a text with their units; commas part thousands, or one is a decimal mark.

    >>> [quantity.value for quantity in quantities_in("-1,234.5 m, 3,5 and 1e3, 3½, 1.2 × 10^3 or 1’200")]
    [-1234.5, 3.5, 1000.0, 3.5, 1200.0, 1200.0]
    """
    quantities: list[Quantity] = []
    end = 0
    while digit := _DIGIT.search(text, end):  # fast, where a search for whole numbers is slow
        match = _NUMBER.search(text, max(end, digit.start() - 3))
        if match is None:
            break
        quantities.append(_quantity(match))
        end = match.end()
    return quantities


def _quantity(match: re.Match[str]) -> Quantity:
    sign, whole, top, bottom, digits, vulgar, alone, e, ten, power, times, word = match.groups()
    if top:
        value = int(whole or 0) + (int(top) / int(bottom) if int(bottom) else 0.0)
    else:
        value = _decimal(digits or "0")
        value += unicodedata.numeric(vulgar or alone) if vulgar or alone else 0.0
    if exponent := e or ten:
        value = _scaled(value, exponent)
    elif power:
        value = _scaled(1.0, power) if value == 10 else float("nan")
    if times:
        value *= _TIMES.get(times.lower().rstrip("."), 1e6)
    start, end = match.span()
    unit = unit_of(word) if word else None
    if word and unit is None:
        unit, used = unit_in(word)
        end = match.start("unit") + used
    elif word == "in" and re.match(r"\s+[a-z]", match.string[end : end + 3]):
        unit, end = None, match.start("unit")  # "5 in total"
    return Quantity(-value if sign in ("-", "−", "–") else value, unit, start, end)


def _scaled(value: float, exponent: str) -> float:
    return (
        float(f"{value!r}e{exponent.replace('−', '-')}")
        if "e" not in repr(value)
        else value * 10.0 ** int(exponent)
    )


def _decimal(digits: str) -> float:
    """The value of digits, whichever marks part thousands and decimals.

    >>> _decimal("1,234"), _decimal("1.234,5"), _decimal("0,125"), _decimal("1 234.5"), _decimal("1.200")
    (1234.0, 1234.5, 0.125, 1234.5, 1.2)
    """
    try:
        return float(digits)
    except ValueError:  # parted by marks
        digits = re.sub(_GROUP, "", digits)
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}", digits):
        digits = digits.replace(".", "")
    return float(digits.replace(",", "."))


def read_number(reply: str, unit: str | None = None) -> Reading[float]:
    """The number that a reply gives, in the unit; one in another unit of the same kind is converted.

    >>> read_number("12 miles (19.3 km)", "km").value, read_number("1h30", "min").value
    (19.3, 90.0)
    >>> read_number("between 3 and 4 m", "m").flags, read_number("5 kg", "m").flags
    (('no_answer', 'several_answers'), ('no_answer', 'other_unit'))
    """
    own = unit_of(unit) if unit else None

    def parse(text: str) -> float | Unclear | None:
        plain = with_plain_marks(text, reply) if "." in text or "," in text else text
        return Unclear(AMBIGUOUS) if plain is None else number_of(plain, own)

    return read_value(reply, parse)


def number_of(text: str, own: Unit | None = None) -> float | Unclear | None:
    """The one number of a text; None without one, or where a formula is all there is of it."""
    if text.lstrip()[:1] in ("{", "["):
        text = from_json(text)
    if len(text) > MAX_TEXT:
        text = f"{text[: MAX_TEXT // 2]}\n{text[-MAX_TEXT // 2 :]}"
    if text.endswith(")") and _CALL.fullmatch(text.strip()):
        return None
    text = _in_own_scale(without_marks(text), own)
    if (match := _NUMBER.match(text)) and (quantity := _quantity(match)).end == len(text):
        # Nothing stands beside it.
        return _one_of((quantity,), own) if math.isfinite(quantity.value) else None
    if "(" in text or "[" in text:
        text = _BRACKETED_UNIT.sub(lambda match: f" {match[1]}" if unit_of(match[1]) else match[0], text)
    text = without_denied(_spelled_out(text, own))
    answer = _one_in(_BECAUSE.split(text, maxsplit=1)[0], own)
    head, but, behind = text.partition(" but ")
    if but and (answer is None or _FIRST_THOUGHT.search(head.lower())):
        corrected = _one_in(behind, own)
        answer = answer if corrected is None else corrected
    if isinstance(answer, Unclear) and "(" in text:
        beside = _one_in(_ASIDE.sub("", text), own)
        answer = answer if beside is None else beside
    return answer


def _one_in(written: str, own: Unit | None) -> float | Unclear | None:
    text = _of_formula(written).strip()
    quantities = quantities_in(text)
    if not quantities:
        text = in_digits(text)
        quantities = quantities_in(text)
    if not quantities or not all(map(math.isfinite, [quantity.value for quantity in quantities])):
        return None
    if len(quantities) == 1 and quantities[0].unit is None and own is not None:
        before = written[: len(written.rstrip()) - len(text) + quantities[0].start]
        if named := _LABEL_UNIT.search(before, max(0, len(before) - MAX_LABEL)):  # "Distance (km): 3.6"
            quantities[0] = quantities[0]._replace(unit=unit_of(named[1]))
    if len(quantities) == 1 and quantities[0].end - quantities[0].start == len(text):
        return _one_of(quantities, own)  # nothing stands beside it
    lowered = text.lower()
    if len(quantities) == 1:
        is_open = _BOUND.search(
            lowered, max(0, quantities[0].start - MAX_BOUND), quantities[0].end + MAX_BOUND
        )
    else:
        is_open = _RANGE.search(lowered) or _BETWEEN.search(lowered)
    if is_open and not _are_one_in_units(quantities):
        return Unclear()
    if _RECKONS.search(text) and _is_formula(text, quantities):
        return None
    if _is_total(quantities, text) and own is None:
        return quantities[0].value
    return _one_of(joined(quantities, text) if len(quantities) > 1 else quantities, own)


def _in_own_scale(text: str, own: Unit | None) -> str:
    """Thousands and millions, and degrees of the asked temperature, in one spelling each."""
    if own is None:
        return _SCALE.sub(lambda match: f" {_SCALES[match[1]]}", text)
    if own.of == "temperature":
        scale = "C" if own == UNITS["°c"] else "F"
        return _DEGREES.sub(lambda match: f" °{match[1] or scale}", text)
    return text


def _spelled_out(text: str, own: Unit | None) -> str:
    """Hours and minutes, feet and inches, and powers of ten in one spelling each."""
    if not text.isascii():
        if "10" in text:
            text = _SUPERSCRIPT.sub(lambda match: "10^" + match[1].translate(_LOWERED), text)
        if max(text) > "\u3000":
            text = _JOINED.sub(lambda match: f"{match[1]} ", text)
    if "^" in text or "**" in text:
        text = _SQUARED.sub(lambda match: "²³"[int(match[1]) - 2], text)
    if "inus" in text or "egative" in text:
        text = _MINUS.sub("-", text)
    of = own.of if own else ""
    if of in ("", "speed", "length") and holds_any(text, _PER_SIGNS):
        text = _PER.sub(_speed, text)
    if "M " in text:
        text = _MILLIONS.sub(" million", text)
    for pattern, plain in _OF_KIND.get(of, ()):
        text = pattern.sub(plain, text)
    if "±" in text or "+" in text or " or " in text:
        text = _PLUS_MINUS.sub(lambda match: " " if text[: match.start()][-1:].isalpha() else "", text)
    return _SPREAD.sub("", text) if "(" in text else text


def _speed(match: re.Match[str]) -> str:
    unit, per = match["unit"][:2].lower(), (match["per"] or match["power"]).lower()
    return f"{_SPEED_UNITS.get(unit, 'm')}/{'h' if per[:2] in ('h', 'ho', 'he', 'st', 'or') else 's'}"


def _hours(match: re.Match[str]) -> str:
    return f"{match[1]} h {match[2]} min"


def _power(match: re.Match[str]) -> str:
    length = unit_of(match["unit"] or match["first"])
    if length is None or length.of != "length" or length.factor not in _LENGTHS:
        return match[0]
    power = (match["power"] or match["behind"]).lower()
    return f"{_LENGTHS[length.factor]}{'³' if power[0] in 'ck' and power[:3] not in ('car', 'cua') else '²'}"


def _clock_in_words(match: re.Match[str]) -> str:
    first, second, third, unit = match.groups()
    if third is not None:
        return f"{int(first)} h {int(second)} min {third} s"
    if unit is None:
        return match[0]
    return f"{first} h {second} min" if unit.strip().startswith("h") else f"{first} min {second} s"


_OF_KIND: Mapping[str, tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = {
    "": ((_HOURS, _hours),),
    "time": (
        (_HOURS, _hours),
        (_ONE, lambda _: "1"),
        (_AND_HALF, lambda match: f"{match[1]}.5 {match[2]}"),
        (_HALF, lambda _: "0.5"),
        (_CLOCK, _clock_in_words),
        (_MINUTES, lambda match: f"{match[1]} min {match[2]} s"),
        (_MIN_S, lambda match: f"{match[1]} s"),
        (_ISO_SPAN, lambda match: f"{match[1] or 0} h {match[2] or 0} min {match[3] or 0} s"),
    ),
    "area": ((_SQUARE, _power),),
    "volume": ((_SQUARE, _power),),
    "length": (
        (_FEET, lambda match: f"{match[1]} ft {match[2]} in"),
        (_METRES, lambda match: f"{match[1]}.{match[2]} m"),
    ),
}


def _of_formula(text: str) -> str:
    """What stands behind the last equals sign, if it holds a number; without the part in an open bracket."""
    if text.count("(") > text.count(")"):
        head, _, _ = text.rpartition("(")
        if not (_OPERATOR.search(head) or _CUT.search(head) or re.search(r"[\w√]\($", f"{head}(")):
            text = head
    if not holds_any(text, _EQUAL_SIGNS) or _NAMED_VALUES.search(text):
        return text
    parts = _EQUALS.split(text)
    return parts[-1] if len(parts) > 1 and (re.search(r"\d", parts[-1]) or not parts[-1].strip()) else text


def _is_formula(text: str, quantities: Sequence[Quantity]) -> bool:
    """Whether signs of reckoning stand between the numbers, or at the end as in a formula that was cut."""
    between = [text[first.end : second.start + 1] for first, second in pairwise(quantities)]
    before, behind = text[: quantities[0].start], text[quantities[-1].end :]
    if any(
        _OPERATOR.search(f" {part} ") or re.search(r"^\s*[-−/]\s*\d?$", part)
        for part in (*between, before[-12:])
    ):
        return not _are_alternatives(quantities, between)
    return (
        _CUT.search(text) is not None
        or _OPERATOR.match(behind.lstrip()) is not None
        or text.count("(") > text.count(")")
    )


def _are_alternatives(quantities: Sequence[Quantity], between: Sequence[str]) -> bool:
    """Whether a slash parts the same value in two units."""
    return (
        len(quantities) == 2
        and between[0][:-1].strip() == "/"
        and None not in (quantities[0].unit, quantities[1].unit)
    )


def joined(quantities: Sequence[Quantity], text: str) -> list[Quantity]:
    """A text's quantities, with those as `1 h 20 min` added up: each unit smaller than the one before it."""
    added_up: list[Quantity] = []
    last: Quantity | None = None
    for quantity in quantities:
        is_next = (
            last is not None
            and last.unit is not None
            and quantity.unit is not None
            and last.unit.of == quantity.unit.of
            and last.unit.factor > quantity.unit.factor
            and not quantity.unit.offset
            and re.fullmatch(r"\s*\.?(?:,|and|und|et|y|e|и)?\s*", text[last.end : quantity.start]) is not None
        )
        if is_next and last is not None and last.unit is not None and quantity.unit is not None:
            before = added_up.pop()
            added = converted(quantity.value, quantity.unit, before.unit or quantity.unit)
            total = before.value + (added if before.value >= 0 else -added)
            added_up.append(Quantity(total, before.unit, before.start, quantity.end))
        else:
            added_up.append(quantity)
        last = quantity
    return added_up


def _one_of(quantities: Sequence[Quantity], own: Unit | None) -> float | Unclear:
    """The value that all quantities have, in the unit; of several the only one that is in this very unit."""
    if len(quantities) == 1 and (own is None or quantities[0].unit in (None, own)):
        return quantities[0].value
    if own is None:
        return quantities[0].value if _are_same(quantities) else Unclear()
    of_kind = [
        quantity for quantity in quantities if quantity.unit is not None and quantity.unit.of == own.of
    ]
    if not of_kind:
        if any(quantity.unit is not None for quantity in quantities):
            return Unclear("other_unit")
        return quantities[0].value if len({quantity.value for quantity in quantities}) == 1 else Unclear()
    exact = [quantity for quantity in of_kind if quantity.unit == own]
    values = [converted(q.value, q.unit or own, own) for q in of_kind]
    if not _are_same(of_kind) and len({quantity.value for quantity in exact}) != 1:
        return Unclear()
    return exact[0].value if exact else values[0]


def _is_total(quantities: Sequence[Quantity], text: str) -> bool:
    """Whether the first is the sum of all others, which are listed: "7 cars: 3 red, 2 blue and 2 white"."""
    total, *parts = quantities
    is_sum = len(parts) > 1 and math.isclose(total.value, sum(part.value for part in parts))
    return is_sum and any(mark in text[total.end : parts[0].start] for mark in ":(–—")


def _are_one_in_units(quantities: Sequence[Quantity]) -> bool:
    """Whether each says the same value in a unit of its own: "12 km or 7.5 mi"."""
    units = {quantity.unit for quantity in quantities}
    return 1 < len(units) == len(quantities) and _are_same(quantities)


def _are_same(quantities: Sequence[Quantity]) -> bool:
    """Whether quantities are one value, in one unit or rounded in others."""
    first = quantities[0]
    for quantity in quantities[1:]:
        if quantity.unit == first.unit:
            if quantity.value != first.value:
                return False
        elif quantity.unit is None or first.unit is None or quantity.unit.of != first.unit.of:
            return False
        else:
            value = converted(quantity.value, quantity.unit, first.unit)
            if abs(value - first.value) > SAME * max(abs(value), abs(first.value)):
                return False
    return True
