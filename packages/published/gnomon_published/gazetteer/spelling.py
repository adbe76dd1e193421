"""Turns names into keys, so that one place's usual spellings are one key."""

import re
import unicodedata
from dataclasses import dataclass

from gnomon_published.gazetteer.place import KINDS, Kind

# Long vowels short, and n before b, m and p; also in RE2's syntax, for whole columns.
FOLDED = ((r"o[uh]([^aeiou]|$)", r"o\1"), ("oo", "o"), ("uu", "u"), ("m([bmp])", r"n\1"))
_BREAKS = re.compile(r"[\s\-‐-―・]+")
_SILENT = re.compile(r"[^a-z0-9 ]")
_PREFECTURE: tuple[Kind, ...] = ("prefecture",)
_MUNICIPALITY: tuple[Kind, ...] = ("municipality",)
_SMALL: tuple[Kind, ...] = ("municipality", "town")
_STATION: tuple[Kind, ...] = ("station",)
_ENDS: dict[str, tuple[str, tuple[Kind, ...]]] = {  # last word: as Japanese writes it, and what it may mean
    **dict.fromkeys(("prefecture",), ("県府", _PREFECTURE)),
    **dict.fromkeys(("県", "ken"), ("県", _PREFECTURE)),
    **dict.fromkeys(("府", "fu"), ("府", _PREFECTURE)),
    **dict.fromkeys(("都", "to", "metropolis"), ("都", _PREFECTURE)),
    **dict.fromkeys(("市", "shi", "city"), ("市", _MUNICIPALITY)),
    **dict.fromkeys(("区", "ku", "ward"), ("区", _MUNICIPALITY)),
    **dict.fromkeys(("町", "cho", "machi", "town"), ("町", _SMALL)),
    **dict.fromkeys(("村", "mura", "son", "village"), ("村", _SMALL)),
    **dict.fromkeys(("駅", "eki", "station", "sta"), ("駅", _STATION)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A name taken apart: its key, what its last word says it is, and whether it is in Latin letters."""

    key: str
    stem: str  # the key without the last word
    kinds: tuple[Kind, ...]  # what the last word may mean; all kinds where it says nothing
    end: str  # the last word as Japanese writes it; empty where it says nothing
    latin: bool


def spelling(name: str) -> Spelling:
    """Take a name apart.

    >>> spelling("Ōsaka Station").stem, spelling("Shibuya-ku").kinds
    ('osaka', ('municipality',))
    >>> spelling("渋谷駅").stem, spelling("Kyoto").kinds == KINDS
    ('渋谷', True)
    """
    text = unicodedata.normalize("NFKC", name).strip().replace("ヶ", "ケ")
    if not _is_latin(text):
        end, kinds = _ENDS.get(text[-1:], ("", KINDS)) if len(text) > 1 else ("", KINDS)
        return Spelling(key=text, stem=text[:-1] if end else text, kinds=kinds, end=end, latin=False)
    words = _words(text)
    end, kinds = _ENDS.get(words[-1], ("", KINDS)) if len(words) > 1 else ("", KINDS)
    stem = _folded("".join(words[:-1] if end else words))
    return Spelling(key=_folded("".join(words)), stem=stem, kinds=kinds, end=end, latin=True)


def latin_key(name: str) -> str:
    """Letters and digits only, without marks on vowels; long vowels are written short.

    >>> latin_key("Kōchi"), latin_key("Kouchi"), latin_key("Shin-Ōsaka"), latin_key("Dotombori")
    ('kochi', 'kochi', 'shinosaka', 'dotonbori')
    """
    return _folded("".join(_words(unicodedata.normalize("NFKC", name))))


def _words(text: str) -> list[str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    words = (_SILENT.sub("", word) for word in _BREAKS.split(plain.casefold()))
    return [word for word in words if word] or [""]


def _folded(letters: str) -> str:
    for pattern, replacement in FOLDED:
        letters = re.sub(pattern, replacement, letters)
    return letters


def _is_latin(text: str) -> bool:
    names = (unicodedata.name(character, "") for character in text)
    return not any(name.startswith(("CJK", "HIRAGANA", "KATAKANA")) for name in names)
