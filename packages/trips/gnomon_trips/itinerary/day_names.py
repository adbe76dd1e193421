"""Reads the names of days in opening hours that are not written in English."""

import re

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
