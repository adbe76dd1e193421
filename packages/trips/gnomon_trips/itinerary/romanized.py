"""Writes names in Cyrillic, Greek, kana or Hangul with Latin letters, as signs and maps do."""

import re
import unicodedata

_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ"
_IN_LATIN = "a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya i yi ye g"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψω"
_GREEK_IN_LATIN = "a v g d e z i th i k l m n x o p r s s t y f ch ps o"
_LETTERS = {
    letter: latin.strip("-")
    for letter, latin in zip(_CYRILLIC + _GREEK, f"{_IN_LATIN} {_GREEK_IN_LATIN}".split(), strict=True)
}
_KANA = (
    (r"small tu(.)", r"\1\1"), ("ismall y", "y"), ("small ", ""), ("sy", "sh"), ("ty", "ch"), ("zy", "j"),
    ("si", "shi"), ("ti", "chi"), ("tu", "tsu"), ("hu", "fu"), ("[zd]i", "ji"), ("du", "zu"), ("wo", "o"),
)  # fmt: skip
"""From the names that Unicode gives to kana to Hepburn's spelling; a small tu doubles what follows."""
_RUN_OF_KANA = re.compile("[\u3041-\u30fa]+")


def romanized(name: str) -> str:
    """The name in Latin letters; characters of other scripts stay as they are.

    >>> romanized("Москва"), romanized("Αθήνα"), romanized("서울"), romanized("Café"), romanized("浅草")
    ('moskva', 'athina', 'seoul', 'Café', '浅草')
    >>> romanized("きよみずでら"), romanized("ニッコウ"), romanized("ちょうし"), romanized("Тирана")
    ('kiyomizudera', 'nikkou', 'choushi', 'tirana')
    """
    return "".join(map(_letter, _RUN_OF_KANA.sub(_hepburn, unicodedata.normalize("NFC", name))))


def _hepburn(kana: re.Match[str]) -> str:
    names = (unicodedata.name(letter).lower().partition(" letter ") for letter in kana[0])
    latin = "".join(sound for _, _, sound in names)
    for pattern, spelling in _KANA:
        latin = re.sub(pattern, spelling, latin)
    return latin


def _letter(letter: str) -> str:
    for form in (letter.lower(), unicodedata.normalize("NFD", letter.lower())[0]):
        if form in _LETTERS:
            return _LETTERS[form]
    named = unicodedata.name(letter, "").lower()
    if named.startswith("hangul syllable "):
        return named.rpartition(" ")[2].replace("c", "ch")
    return letter
