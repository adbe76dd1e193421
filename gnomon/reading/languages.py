"""Tells the language of a reply, where that decides what a mark or a letter in it means."""

import re
from typing import NamedTuple


class Language(NamedTuple):
    """What a language is used to; None where its countries differ, or where it has no such habit."""

    decimal: str | None
    thousands: str | None
    o_is: int | None
    """1 where "24° O" lies in the east, as in German, -1 where it lies in the west, as in Spanish."""


LANGUAGES = {
    "the of is are and to it in about answer with": Language(".", ",", None),
    "der die das den ist sind und von bei mit nach etwa beträgt liegt antwort richtung "
    "breite länge östlich koordinaten entfernung strecke insgesamt": Language(",", ".", 1),
    "het een de is en van naar ongeveer antwoord bedraagt ligt afstand richting": Language(",", ".", 1),
    "il la le di del della è sono e verso circa risposta distanza direzione coordinate": Language(
        ",", ".", -1
    ),
    "de do da é são e em para cerca resposta distância direção coordenadas": Language(",", ".", -1),
    "le la les de du est sont et vers environ réponse coordonnées ville": Language(",", None, -1),
    "el la las los de del es son y en se hacia respuesta distancia dirección coordenadas": Language(
        None, None, -1
    ),
}
_LANGUAGES = tuple((frozenset(words.split()), language) for words, language in LANGUAGES.items())
_CYRILLIC = Language(",", None, None)
MAX_TOLD = 4_000  # characters of a reply that tell its language
_WORD = re.compile(r"[^\W\d_]+")
_EITHER = re.compile(r"([1-9](?<![\d.,].)\d{0,2})([.,])(\d{3})(?![\d.,]*\d)")
_DECIMAL = re.compile(r"(?<![\d.,])(?:\d+([.,])(?:\d\d?|\d{4,})|0([.,])\d+)(?![\d.,:]*\d|\s?Uhr)")


def language_of(reply: str) -> Language | None:
    """The language that most words of a reply tell, of several what they share; None where no word tells one.

    >>> language_of("Die Antwort ist 5.").o_is, language_of("5 m")
    (1, None)
    """
    words = _WORD.findall(reply[:MAX_TOLD].lower())
    if any("а" <= word[0] <= "я" for word in words):
        return _CYRILLIC
    counts = [sum(word in telling for word in words) for telling, _ in _LANGUAGES]
    most = max(counts)
    likely = {language for count, (_, language) in zip(counts, _LANGUAGES, strict=True) if count == most > 0}
    habits = [set(habit) for habit in zip(*likely, strict=True)]
    return Language(*(habit.pop() if len(habit) == 1 else None for habit in habits)) if likely else None


def with_english_sides(reply: str, places: re.Pattern[str]) -> str | None:
    """The reply with E or W for the O of Ost or Oeste at these places; None where that is left open."""
    if not places.search(reply, 0, MAX_TOLD):
        return reply
    language = language_of(reply)
    return places.sub("E" if language.o_is > 0 else "W", reply) if language and language.o_is else None


def with_plain_marks(text: str, reply: str) -> str | None:
    """A text whose "1.250" is 1250 where the language of its reply says so; None where that is left open.

    >>> [with_plain_marks("1.250 m", reply) for reply in ("Die Wand ist 1.250 m lang.", "It is 1.250 m.")]
    ['1250 m', '1.250 m']
    >>> with_plain_marks("1,250 m", "Sie ist 1,250 m lang und 0,5 m hoch, die Wand.")
    '1.250 m'
    """
    language = language_of(reply) if _EITHER.search(text) else None
    if language is None or language.decimal == ".":
        return text
    shown = {mark or zero for mark, zero in _DECIMAL.findall(reply[:MAX_TOLD])}
    plain = {}
    for mark, other in (".,", ",."):
        if mark not in shown and (language.thousands == mark or shown == {other}):
            plain[mark] = ""
        elif other not in shown and (language.decimal == mark or shown == {mark}):
            plain[mark] = "."
    if any(match[2] not in plain for match in _EITHER.finditer(text)):
        return None
    return _EITHER.sub(lambda match: f"{match[1]}{plain[match[2]]}{match[3]}", text)
