"""Mends and rewrites texts of opening hours before they are parsed."""

import re
from collections.abc import Callable, Iterator

from gnomon_tools.core.name_match import plain_name

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
LANGUAGES = tuple(
    tuple(names.split())
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai",
        "mandag tisdag onsdag torsdag fredag lordag sondag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miercoles jueves viernes sabado domingo",
        "lunedi martedi mercoledi giovedi venerdi sabato domenica",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    )
)
NO_DAYS = frozenset(("mar", "off", "on"))
"""Words of the grammar and of comments that are the beginning of a day elsewhere."""
EVERY_DAY = (
    r"\b(?:daily|every ?day|täglich|joka päivä|päivittäin|tous les jours|todos los días|tutti i giorni"
    r"|alla dagar|dagligen|dagelijks)\b|毎日|年中無休"
)
WORDS = tuple(
    (re.compile(pattern, re.IGNORECASE), meant)
    for pattern, meant in (
        (EVERY_DAY, "Mo-Su"),
        (r"\b(?:arkisin|arkipäivisin|weekdays|werktags|en semaine|vardagar|wd)\b|平日", "Mo-Fr"),
        (r"\b(?:suljettu|kiinni|fermée?|geschlossen|Ruhetag|stängt|cerrado|chiuso|gesloten)\b", "off"),
        (r"、", ","),
        (r"(?<=[月火水木金土日])(?=[月火水木金土日祝])", ","),
        (r"祝日?", "PH"),
        (r"\b(?:klo|kl|Uhr|du|de|le|von|from|dalle)\b\.?\s*", ""),
    )
)
IN_JAPANESE = re.compile(r"(?<!\d)([月火水木金土日])(?:曜日?)?")


def with_english_days(text: str) -> str:
    """The text with the days that other languages name; as it is where two languages differ.

    >>> with_english_days("Ma-Pe 9-17; su kiinni"), with_english_days("lundi au vendredi 9h-18h")
    ('Mo-Fr 9-17; Su off', 'Mo au Fr 9h-18h')
    >>> with_english_days("Ma-Di 10-18"), with_english_days("月〜金 9:00-17:00")
    ('Ma-Di 10-18', 'Mo〜Fr 9:00-17:00')
    """
    for pattern, meant in WORDS:
        text = pattern.sub(meant, text)
    text = IN_JAPANESE.sub(lambda day: DAYS["月火水木金土日".index(day[1])], text)
    words = dict.fromkeys(re.findall(r"[^\W\d_]{2,}", text))
    readings = [
        {word: day for word in words if (day := _day_of(plain_name(word), names))} for names in LANGUAGES
    ]
    most = max(map(len, readings))
    best, *others = [reading for reading in readings if len(reading) == most]
    if any(other != best for other in others):
        return text
    return re.sub(r"[^\W\d_]{2,}", lambda word: best.get(word[0], word[0]), text)


def _day_of(word: str, names: tuple[str, ...]) -> str:
    """The day whose name a word begins, or inflects; empty: none, or several."""
    fitting = [
        day
        for day, name in zip(DAYS, names, strict=True)
        if word not in NO_DAYS and (name.startswith(word) or word.startswith(name))
    ]
    return fitting[0] if len(fitting) == 1 else ""


DAY = r"(?:Mo|Tu|We|Th|Fr|Sa|Su|PH|SH)"
CLOCK = r"\d{1,2}:\d\d"
MONTH = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
RANGE = re.compile(rf"({CLOCK})\s*-\s*({CLOCK})(\+?)")
TIMES = re.compile(rf"{CLOCK}\s*-\s*{CLOCK}\+?(?:\s*,\s*{CLOCK}\s*-\s*{CLOCK}\+?)*")
OPEN_END = re.compile(rf"(?:({CLOCK})\s*-\s*)?({CLOCK})\+")
QUOTED = re.compile(r'("[^"]*"?)')
SEPARATOR = re.compile(r"(\s*;\s*|\s*\|\|\s*|(?<=:\d\d)\s*,\s*(?=[A-Z]))")
STATE = re.compile(r"\b(?:off|closed|open|unknown|24/7)\b", re.IGNORECASE)
SPECIAL = re.compile(rf"\b(?:PH|SH|easter|week|May|{MONTH})\b")
"""What names days that are no usual ones."""
SUN = re.compile(r"\b(?:sunrise|sunset|dawn|dusk)\b")
ON_REQUEST = re.compile(
    r"request|appointment|reserv|arrange|booking|on demand|group|member|予約|会員|団体"
    r"|sopimu|tilau|varau|ryhm|jäsen|anmeld|vereinbar|grupp|mitglied",
    re.IGNORECASE,
)
"""Words of comments that make hours a condition, in the languages of the data at hand."""
DAY_AND_HOUR = re.compile(r"\b(?!week)((?:Mo|Tu|We|Th|Fr|Sa|Su|PH)[a-z]*)(?=\d)", re.IGNORECASE)
"""A day's name to which hours are written without a blank."""
LENIENT: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b(\d{1,2})(?:[.h](\d\d)|\s?h\b)(?!\d)"), lambda hour: f"{hour[1]}:{hour[2] or '00'}"),
    (re.compile(r"(?<=\d)\s*\b(?:to|until|till|bis|à|a|alle|tot|til)\b\s*(?=\d)", re.IGNORECASE), "-"),
    (re.compile(r"\b24(?::00)?\s?(?:hours|hrs|Stunden)\b|24時間|(?<=[a-z] )24/7|^24:00$"), "00:00-24:00"),
    (re.compile(rf"\b({DAY})\s*:(?=\s)"), r"\1"),
    (re.compile(rf"\b({MONTH})(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)\b"), r"\1"),
    (re.compile(r"\b(?:by appointment|on request|nach Vereinbarung)\b[^;]*"), lambda words: f'"{words[0]}"'),
)
"""What mappers write who do not keep to the grammar, and what they mean."""
HALF_DAY = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?", re.IGNORECASE)


def mended(hours: str) -> Iterator[str]:
    """The text in the forms in which it may be meant, the likeliest first.

    A comma and a blank between day names would begin a new rule by the letter of the grammar; no mapper means
    that. A rule that is only a comment, or whose comment asks for a request, is uncertain.

    >>> next(mended('Tu, Fr 10:00-18:00; Sa "for request only"'))
    'Tu,Fr 10:00-18:00; Sa unknown "for request only"'
    >>> list(mended("Mon - Fri 11am - 11pm, Sat 10-18"))[-1]
    'Mo-Fr 11:00-23:00, Sa 10:00-18:00'
    """
    text = re.sub(r"[;\s]+$", "", _outside_quotes(hours, _closed_up))
    yield _uncertain(text)
    lenient = _outside_quotes(text, _in_grammar)
    rules = [rule for _, rule in rules_of(lenient)]
    if all(_has_time(rule) for rule in rules):  # else a slip would make a rule out of bare days: open always
        yield _uncertain(lenient)


def _closed_up(text: str) -> str:
    return re.sub(rf"\b({DAY}(?:\[[^\]]*\])?)\s*,\s*(?={DAY}\b)", r"\1,", text)


def _in_grammar(text: str) -> str:
    """Long day names, hours with am and pm, hours without minutes, rules without a semicolon."""
    text = re.sub(r"[\u2010-\u2015\u2212\u301c\uff5e]", "-", text).replace("\uff1a", ":")
    text = DAY_AND_HOUR.sub(r"\1 ", text)
    text = with_english_days(HALF_DAY.sub(_whole_day, text))
    for written, meant in LENIENT:
        text = written.sub(meant, text)
    text = re.sub(r"\b[Pp][Hh]\b", "PH", text)
    text = re.sub(rf"({DAY})\s*(?:-|\b(?:to|bis|au|a|al|till|tot)\b)\s*({DAY})", r"\1-\2", text)
    text = re.sub(rf"({DAY})\s*(?:&|[,・]|\b(?:and|und|et|ja|och|en|y|e)\b)\s*(?={DAY}\b)", r"\1,", text)
    text = re.sub(rf"({DAY})\s+\[", r"\1[", text)
    text = re.sub(r"(?<![:\d])(\d{1,2})(?=\s*-\s*\d{1,2}(?!\d))", r"\1:00", text)
    text = re.sub(r"(:\d\d\s*-\s*\d{1,2})(?![:\d])", r"\1:00", text)
    text = re.sub(r"(?<!\d)(\d):(\d\d)", r"0\1:\2", text)
    text = re.sub(rf"({CLOCK})\s*-\s*({CLOCK})", r"\1-\2", text)
    text = re.sub(rf"({CLOCK}\+?)\s*,\s*(?={DAY}\b)", r"\1, ", text)
    return re.sub(rf"({CLOCK}\+?)\s+(?={DAY}\b)", r"\1; ", text)


def _whole_day(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return f"{hour:02d}:{match[2] or '00'}"


def _uncertain(text: str) -> str:
    """Rules that are only a comment or have no hours, and hours on request, marked as uncertain."""
    return "".join(separator + _rule_marked(rule) for separator, rule in rules_of(text))


def _rule_marked(rule: str) -> str:
    head, quote, comment = rule.partition('"')
    if rule and not _has_time(rule):
        return f"{rule.rstrip()} unknown"
    if not quote or STATE.search(head.replace("24/7", "")):
        return rule
    is_bare = not re.search(rf"{CLOCK}|24/7", head) and not SUN.search(head)
    return f'{head.rstrip()} unknown "{comment}'.lstrip() if is_bare or ON_REQUEST.search(comment) else rule


def rules_of(text: str) -> list[tuple[str, str]]:
    """Each rule with what separates it from the rule before.

    >>> rules_of('Mo 10:00-18:00, Tu 12:00-14:00; We off "a; b"')
    [('', 'Mo 10:00-18:00'), (', ', 'Tu 12:00-14:00'), ('; ', 'We off "a; b"')]
    """
    rules = [("", "")]
    for part in QUOTED.split(text):
        if part.startswith('"'):
            rules[-1] = (rules[-1][0], rules[-1][1] + part)
            continue
        pieces = SEPARATOR.split(part)
        rules[-1] = (rules[-1][0], rules[-1][1] + pieces[0])
        rules += list(zip(pieces[1::2], pieces[2::2], strict=True))
    return rules


def _outside_quotes(text: str, change: Callable[[str], str]) -> str:
    parts = QUOTED.split(text.strip())
    return "".join(part if part.startswith('"') else change(part) for part in parts)


def _has_time(rule: str) -> bool:
    return bool(re.search(CLOCK, rule) or STATE.search(rule) or SUN.search(rule) or '"' in rule)


def within_a_day(text: str) -> tuple[str, str | None]:
    """The text cut at midnight, and the part after midnight as hours of the day on which it began.

    None: nothing is left. A rule without such hours is written as closed, as it replaces earlier rules.

    >>> within_a_day("Mo-Sa 17:00-01:00; Su 11:30-23:00")
    ('Mo-Sa 17:00-24:00; Su 11:30-23:00', 'Mo-Sa 00:00-01:00; Su off')
    """
    day, night, is_late = "", "", False
    for separator, rule in rules_of(text):
        rests = list[str]()

        def cut(match: re.Match[str], rests: list[str] = rests) -> str:
            start, end = _minutes(match[1]), _minutes(match[2])
            if end > start and end <= 24 * 60:
                return match[0]
            rest = end - 24 * 60 if end > 24 * 60 else end
            if rest:
                rests.append(f"00:00-{rest // 60:02d}:{rest % 60:02d}")
            return f"{match[1]}-24:00"

        head, quote, comment = rule.partition('"')
        day += f"{separator}{RANGE.sub(cut, head)}{quote}{comment}"
        is_late = is_late or bool(rests)
        if rests:
            night += f"{separator}{TIMES.sub(','.join(rests), head, count=1)}{quote}{comment}"
        elif ";" in separator or not separator:
            span = re.search(rf"{CLOCK}|{STATE.pattern}|{SUN.pattern}|\(", head)
            night += f"{separator}{(head[: span.start()] if span else head).strip()} off"
    return day, (night.strip(" ;,") if is_late else None)


def with_fallbacks(text: str) -> list[str]:
    """The text before the first `||`, and each that holds where those before it say closed.

    >>> with_fallbacks('Mo-Fr 10:00-18:00 || "ring || call"')
    ['Mo-Fr 10:00-18:00', '"ring || call"']
    """
    texts = [""]
    for separator, rule in rules_of(text):
        texts += [""] if "||" in separator else []
        texts[-1] += ("" if "||" in separator else separator) + rule
    return texts


def with_holidays_on(text: str, names: str, *, is_holiday: bool) -> str:
    """The text without rules for the weekdays that are holidays, or with them for all such weekdays.

    >>> with_holidays_on("We-Mo 10:00-18:00; PH We-Mo 10:00-16:00", "PH", is_holiday=False)
    'We-Mo 10:00-18:00'
    """
    both = re.compile(rf"^{names}\s+(?={DAY}\b)")
    kept = [
        separator + both.sub("", rule)
        for separator, rule in rules_of(text)
        if is_holiday or not both.match(rule)
    ]
    return "".join(kept).lstrip(";, ") or "off"


def with_closing_last(text: str) -> str:
    """The text as it is meant where a rule that closes special days stands before one that opens them.

    >>> with_closing_last("PH off; Mo-Fr 10:00-18:00")
    'Mo-Fr 10:00-18:00; PH off'
    """
    rules = rules_of(text)
    return _closing_last(rules, [SPECIAL.search(QUOTED.sub("", rule)) is not None for _, rule in rules])


def _closing_last(rules: list[tuple[str, str]], may_move: list[bool]) -> str:
    shut = [
        moves and re.search(r"\b(?:off|closed)\b", QUOTED.sub("", rule)) is not None
        for (_, rule), moves in zip(rules, may_move, strict=True)
    ]
    kept = [f"{separator}{rule}" for (separator, rule), last in zip(rules, shut, strict=True) if not last]
    closing = [f"; {rule}" for (_, rule), last in zip(rules, shut, strict=True) if last]
    return "".join([*kept, *closing]).lstrip(",; ")


def with_days(text: str) -> str:
    """The text as it is meant where a later rule without days adds hours to the days before it.

    By the letter of the grammar such a rule replaces all before; days that are closed may stay so.

    >>> with_days("Mo-Fr 10:00-14:00; 16:00-20:00"), with_days("Mo off; 10:00-18:00")
    ('Mo-Fr 10:00-14:00, 16:00-20:00', '10:00-18:00; Mo off')
    """
    rules = rules_of(text)
    bare = [number for number, (_, rule) in enumerate(rules) if number and re.match(CLOCK, rule)]
    if not bare or all(";" not in rules[number][0] for number in bare):
        return text
    joined = [(", " if number in bare else "; ", rule) for number, (_, rule) in enumerate(rules)]
    return _closing_last(joined, [number < bare[-1] for number in range(len(rules))])


def surely_until(text: str) -> str:
    """The text without hours whose end is open, such as `20:30+`; a range with `+` holds until its end."""
    return _with_ends(text, "")


def with_end(text: str) -> str:
    """The text with every open end set to midnight, the latest time that this reader takes it for."""
    return _with_ends(text, "24:00")


def _with_ends(text: str, end: str) -> str:
    def closed(match: re.Match[str]) -> str:
        if match[1] is None:
            return f"{match[2]}-{end}" if end else ""
        crosses = _minutes(match[2]) <= _minutes(match[1])
        return f"{match[1]}-{end if end and not crosses else match[2]}"

    pieces = []
    for separator, rule in rules_of(text):
        head, quote, comment = rule.partition('"')
        if OPEN_END.search(head):
            head = re.sub(r"\s*,\s*(?=,|$)", "", OPEN_END.sub(closed, head)).rstrip()
            head = re.sub(r"(^|\s),\s*", r"\1", head)
            if not re.search(CLOCK, head):
                head = f"{head} off".strip()
            head += " " if quote else ""
        pieces.append(f"{separator}{head}{quote}{comment}")
    return "".join(pieces)


def names_holidays(text: str) -> frozenset[str]:
    """Which of PH (public) and SH (school holidays) the text speaks of.

    >>> sorted(names_holidays('Mo-Fr 10:00-18:00; PH off "SH too"'))
    ['PH']
    """
    return frozenset(re.findall(r"\b(PH|SH)\b", QUOTED.sub("", text)))


def on_holiday(text: str, names: str) -> str:
    """The text as it holds on such a holiday, whatever day of the week that is.

    >>> on_holiday("Mo-Fr 10:00-18:00; SH Mo-Fr 12:00-16:00; PH off", "PH")
    'Mo-Fr 10:00-18:00; SH Mo-Fr 12:00-16:00; Mo-Su off'
    """

    def everyday(part: str) -> str:
        return re.sub(
            rf"\b{names}\b(?: [+-]\d+ days?)?", "Mo-Su", re.sub(rf"\b{names}\s+(?={DAY}\b)", "", part)
        )

    return _outside_quotes(text, everyday)


def names_sun(text: str) -> bool:
    """Whether hours depend on the sun."""
    return bool(SUN.search(QUOTED.sub("", text)))


def is_constant(text: str) -> bool:
    """Whether it is open day and night, all year."""
    return text.strip() == "24/7"


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
