"""Choice: the one option that a response chooses, in any usual spelling; for the strict scorings."""

import json
import re
from collections.abc import Mapping

MAX_READ = 20_000  # characters; of a longer response its beginning and its end are read

_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAGGED = re.compile(r"<answer>(.*?)</answer>|\\boxed\{([^{}]*)\}", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]*\}")
_NAMED = re.compile(
    r"\b(?:answer|option|choice)\b(?:\s+is\b)?\s*[*_`]*\s*([:=：-]?)\s*(?:option\s+)?[*_`\[({\"']*\s*([A-Z])(?![A-Z0-9'’])",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"[\s*_`\"'\[({]*([A-Z])(?![A-Z0-9'’])[\s*_`\"'\])}]*(?:$|[.:),、;-])\s*(.*)", re.DOTALL | re.IGNORECASE
)
_ENDS = re.compile(r"[*_`\])}\"'\s]*(?:$|[.;,)\n])")
_AND_ANOTHER = re.compile(r"[\])}\"'*_`.]*\s*(?:,|/|&|\bor\b|\band\b)\s*[\[({\"'*_`]*[A-Z](?![A-Za-z0-9'’])")


def read_choice(response: str, options: Mapping[str, str]) -> str | None:
    r"""The letter of the chosen option; None unless exactly one is named. `options` maps letters to texts.

    Tried in order, thinking sections left out: the last answer tag or box, the last JSON object with `answer`
    or `option`; the whole text as a letter or an option's text; the last "Option: X", "Answer: X" or
    "answer is X"; a letter that leads the text.

    >>> options = {"A": "0.5 m", "B": "2 m"}
    >>> [read_choice(text, options) for text in ("Option: [B]; Reason: far.", "b", "**(B)** 2 m", "2 M")]
    ['B', 'B', 'B', 'B']
    >>> [read_choice(text, options) for text in ("A or B", "It is an option.", "F", "Answer: A, B")]
    [None, None, None, None]
    """
    if len(response) > MAX_READ:
        response = f"{response[: MAX_READ // 2]}\n{response[-MAX_READ // 2 :]}"
    text = _THINKING_END.split(_THINKING.sub("", response))[-1].strip()
    inner = _wrapped(text)
    if inner is not None:
        return _whole(inner, options)
    whole = _whole(text, options)
    if whole is not None:
        return whole
    for named in reversed(list(_NAMED.finditer(text))):
        rest = text[named.end() :]
        if named[2].isupper() or (named[1] and _ENDS.match(rest)):
            letter = named[2].upper()
            return letter if letter in options and not _AND_ANOTHER.match(rest) else None
    return None


def _wrapped(text: str) -> str | None:
    """What is in the last answer tag, box or JSON object."""
    tags = list(_TAGGED.finditer(text))
    if tags:
        return str(tags[-1][1] if tags[-1][1] is not None else tags[-1][2]).strip()
    for written in reversed(_OBJECT.findall(text)):
        try:
            fields = json.loads(written)
        except ValueError:
            continue
        for name in ("answer", "Answer", "option", "Option"):
            if isinstance(fields.get(name), str):
                return str(fields[name]).strip()
    return None


def _whole(text: str, options: Mapping[str, str]) -> str | None:
    """The option that the text as a whole is: its letter, its words, or both."""
    plain = _plain(text)
    by_words = [letter for letter, words in options.items() if plain and _plain(words) == plain]
    if len(by_words) == 1:
        return by_words[0]
    match = _LEAD.match(text)
    if match is None or match[1].upper() not in options:
        return None
    letter, rest = match[1].upper(), match[2]
    if match[1].islower() and rest and _plain(rest) != _plain(options[letter]):
        return None  # the article of a sentence
    return None if _AND_ANOTHER.match(text[match.end(1) :]) else letter


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" .*_`\"'").split())
