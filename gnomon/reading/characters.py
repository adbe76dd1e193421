"""Brings the characters of a reply to plain ones: wide letters, invisible marks, LaTeX, Markdown."""

import re
import unicodedata
from collections.abc import Iterable
from operator import itemgetter

_INVISIBLE = (
    *(0xAD, 0x61C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F)),
    *(*range(0x2060, 0x206A), *range(0xFE00, 0xFE10)),
)
_WIDE = (*range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800), *range(0x24B6, 0x24EA), *range(0x1F130, 0x1F14A))
_BRACKETS = "【】〔〕「」『』《》〈〉\u3000"
_DIGITS = (*range(0x660, 0x66A), *range(0x6F0, 0x6FA))  # Arabic, Persian
_DARK: dict[int, str | None] = {
    base + at: chr(ord("A") + at) for base in (0x1F150, 0x1F170) for at in range(26)
}
_PLAIN: dict[int, str | None] = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in _WIDE},
    **{code: str(unicodedata.digit(chr(code))) for code in _DIGITS},
    **_DARK,
    **dict.fromkeys(_INVISIBLE),
    0x20E3: ".",  # of a number on a key
    **{ord(mark): plain for mark, plain in zip(_BRACKETS, "[][][][][][] ", strict=True)},
}
_FANCY = frozenset(map(chr, _PLAIN))
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|tt)?|math(?:bf|rm|it|sf)|boxed|fbox|mbox|operatorname)\s*\{([^{}]*)\}"
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac\s?(\d)\s?(\d)")
_SPACING = re.compile(r"\\[,;:!()\[\] ]|\\(?:quad|qquad|displaystyle|left|right|bf|rm)(?![A-Za-z])")
_COMMANDS = (
    (re.compile(r"\^?\{?\\(?:circ|degree)(?![A-Za-z])\}?"), "°"),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])"), "×"),
    (re.compile(r"\\pm(?![A-Za-z])"), "±"),
    (re.compile(r"\\(?:to|(?:long)?rightarrow)(?![A-Za-z])"), "→"),
    (re.compile(r"\\approx(?![A-Za-z])"), "≈"),
    (re.compile(r"\\pi(?![A-Za-z])"), "π"),
    (re.compile(r"\\%"), "%"),
)
_SPACES = re.compile(" {2,}")
_BRACKETED = re.compile(r"^\s*<\s?([-+]?\d[\d.,:/-]{0,30}\s?[^\W\d_°%]{0,10}[°%]?)\s?>\s*\.?\s*$")  # "<295>"
_TAG = re.compile(
    r"</?(?:answer|s|b|i|u|p|em|strong|span|code)>|<br ?/?>|<end_of_turn>|"
    r"<\|(?:(?:begin|end)_of_box|eot_id|im_end|endoftext)\|>",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:(?:can)?not|nicht|no es|não é|не)|n['’]t)\s(?:(?:be|at|on|in|due|about|the)\s){0,2}"
    r"(?=[-−+]?\d|(?-i:[A-Z])|(?:north|south|east|west|half|quarter|noon|midnight)\b)"
    r".*?(?=[,;:\n]|\.(?:\s|$)|\sbut\b|\ssondern\b|$)",
    re.IGNORECASE,
)
# One of these stands where `_DENIED` finds something.
_DENYING = ("not ", "nicht ", "no es ", "não é ", "не ", "n't ", "n’t ")
_MARKS = " \t\r\n*_`~\"'“”‘’«»„()[]{}<>.,;:!?。、"


def at_word_start(words: str) -> str:
    """A pattern of any of these, which | parts, each only where a word begins.

    The check stands behind the first letter, as `re` skips to letters fast and to places between them slowly.

    >>> [match[0] for match in re.finditer(at_word_start("an?|on"), "_a_ ban, on an ion")]
    ['a', 'on', 'an']
    """
    return _by_first_letter(words, r"{0}(?<![^\W_].)(?:{2})")


def in_any_case(words: str) -> str:
    """A pattern of any of these, which | parts, in small letters and capitals.

    Each begins with its letter in either case, by which `re` passes over most of them at once.

    >>> [match[0] for match in re.finditer(in_any_case("an?|on"), "AN Ion")]
    ['AN', 'on']
    """
    return f"(?:{_by_first_letter(words, '[{0}{1}](?i:{2})')})"


def _by_first_letter(words: str, form: str) -> str:
    by_letter: dict[str, list[str]] = {}
    for word in words.split("|"):
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(form.format(first, first.upper(), "|".join(rest)) for first, rest in by_letter.items())


def holds_any(text: str, parts: Iterable[str]) -> bool:
    """Whether a text holds one of these; far cheaper than a pattern that needs one of them."""
    for part in parts:  # noqa: SIM110 (`any` takes several times as long)
        if part in text:
            return True
    return False


def plain_characters(text: str) -> str:
    """The text with wide, circled and mathematical letters as plain ones, and without invisible marks.

    >>> plain_characters("Answer：Ｂ"), plain_characters("\u202dB\u202c"), plain_characters("𝐁 Ⓒ【D】")
    ('Answer:B', 'B', 'B C[D]')
    """
    return text if text.isascii() or _FANCY.isdisjoint(text) else text.translate(_PLAIN)


def without_marks(text: str) -> str:
    r"""A short text without LaTeX, tags, and the marks of Markdown around it.

    >>> without_marks(r"**$\text{B}$**"), without_marks(r"\frac{7}{2}\,\text{m}"), without_marks("*12* m")
    ('B', '7/2m', '12 m')
    """
    if "\\" in text:
        text = text.replace("~", " ")
        # Replaced by functions, as `re` makes a template anew for each search.
        for _ in range(3 if "{" in text else 0):  # as deep as wrappers are nested in practice
            text = _FRACTION.sub(lambda part: f" {part[1]}/{part[2]}", _WRAPPER.sub(itemgetter(1), text))
        text = _SPACING.sub("", _SHORT_FRACTION.sub(lambda part: f" {part[1]}/{part[2]}", text))
    if "\\" in text:
        for pattern, sign in _COMMANDS:
            text = pattern.sub(sign, text)
    text = text.replace("$", "").replace("`", "").replace("{,}", ",")
    if "  " in text:
        text = _SPACES.sub(" ", text)
    if "<" in text:
        text = _BRACKETED.sub(itemgetter(1), _TAG.sub("", text))
    if "*" in text:
        text = re.sub(r"\*\*|(?<!\d)\*(?=\S)|(?<=\S)\*(?!\s?\d)", "", text)
    return text.strip().strip("_`~").strip()


def without_denied(text: str) -> str:
    """The text without values that it denies.

    >>> without_denied("5 m, not 4 m"), without_denied("It is not 9 June but 10 June.")
    ('5 m, ', 'It is  but 10 June.')
    """
    return _DENIED.sub("", text) if holds_any(text.lower(), _DENYING) else text


def bare(text: str) -> str:
    """A text without regard to case, spaces, and punctuation and brackets around it.

    >>> bare(" “Market  Square”. ")
    'market square'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split()).strip(_MARKS)
