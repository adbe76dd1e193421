"""Other readings of a name as a traveller types it, tried where no place bears it as it stands."""

import re
from collections.abc import Iterator

_READINGS = (
    (re.compile(r"^the\s+(?=\S)", re.IGNORECASE), ""),
    (re.compile(r"\b(?:stn|sta)\b\.?", re.IGNORECASE), "Station"),
    (re.compile(r"\b(?:tempel|temppeli)$", re.IGNORECASE), "Temple"),
    (re.compile(r"\bschrein$", re.IGNORECASE), "Shrine"),
    (re.compile(r"(?<=\bstation)\b.*\b(?:exit|entrance|gate|side)s?$", re.IGNORECASE), ""),
    (re.compile(r"(?<=駅).+(?:口|改札)$"), ""),
    (re.compile(r"[\s,]+\d+(?:[-–]?ch[oō]me\b.*|-\d.*)$", re.IGNORECASE), ""),
    (re.compile(r"[0-9０-９一二三四五六七八九十]+丁目.*$"), ""),
    (re.compile(r"^\d+(?:-\d+)+\s+"), ""),
)
"""What is taken away or written otherwise: articles, short forms, exits of a station, parts of an address."""


def readings(name: str) -> Iterator[str]:
    """What a name may have been meant as, after more and more of it is read otherwise.

    >>> list(readings("Tokyo Stn Yaesu exit")), list(readings("the Ateneum")), list(readings("Ueno Park"))
    (['Tokyo Station Yaesu exit', 'Tokyo Station'], ['Ateneum'], [])
    >>> list(readings("Jingumae 1-chome")), list(readings("1-1 Chiyoda, Chiyoda-ku"))
    (['Jingumae'], ['Chiyoda, Chiyoda-ku'])
    """
    text = name.strip()
    for pattern, instead in _READINGS:
        read = pattern.sub(instead, text).strip(" ,")
        if read and read != text:
            text = read
            yield text


def is_article(name: str, reading: str) -> bool:
    """Whether a reading leaves out an article, and nothing else."""
    return re.sub(r"^the\s+", "", name.strip(), flags=re.IGNORECASE) == reading
