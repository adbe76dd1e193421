"""Finds what a response gives as its answer: a tag, a box, JSON, the last line that says so, or all of it."""

import json
import re
import unicodedata
from typing import Any

from gnomon.core.choice import MAX_READ

_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAGGED = re.compile(r"<answer>(.*?)</answer>|\\boxed\{([^{}]*)\}", re.DOTALL | re.IGNORECASE)
_NAMED = re.compile(
    r"^[\s*_`#>-]*(?:final\s+)?answer[\s*_`]*[:=：][\s*_`]*(\S.*)$", re.IGNORECASE | re.MULTILINE
)
_OBJECT = re.compile(r"\{[^{}]*\}")


def answer_of(response: str) -> str:
    r"""The text that a response gives as its answer; thinking sections are left out.

    Tried in order: the last answer tag or box; the last JSON object with `answer`; the last line
    `Answer: …`; the last line that is not blank.

    >>> answer_of("It is far.\nAnswer: **12 m**"), answer_of('{"answer": [1, 2]}'), answer_of("12 m")
    ('12 m', '[1, 2]', '12 m')
    >>> answer_of("<think>Answer: 3</think> so \\boxed{4}"), answer_of("")
    ('4', '')
    """
    if len(response) > MAX_READ:
        response = f"{response[: MAX_READ // 2]}\n{response[-MAX_READ // 2 :]}"
    text = without_thinking(response)
    tags = list(_TAGGED.finditer(text))
    if tags:
        return _bare(str(tags[-1][1] if tags[-1][1] is not None else tags[-1][2]))
    for written in reversed(_OBJECT.findall(text)):
        fields = as_json(written)
        if isinstance(fields, dict):
            for name in ("answer", "Answer"):
                if name in fields:
                    value = fields[name]
                    return _bare(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    named = _NAMED.findall(text)
    if named:
        return _bare(named[-1])
    lines = [line for line in text.splitlines() if line.strip()]
    return _bare(lines[-1]) if lines else ""


def without_thinking(response: str) -> str:
    """What a response says beside its thinking sections.

    >>> without_thinking("<think>north?</think> South.")
    'South.'
    """
    return _THINKING_END.split(_THINKING.sub("", response))[-1].strip()


def as_json(text: str) -> Any:
    """The value of a JSON text; None where it is none.

    >>> as_json("[1, 2]"), as_json("north")
    ([1, 2], None)
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _bare(text: str) -> str:
    """Without the marks of Markdown around it."""
    return text.strip().strip("*_`").strip()


def normalised(text: str) -> str:
    """A text without regard to case, spaces, accents' encoding, and punctuation around it.

    >>> normalised(" “Market  Square”. ")
    'market square'
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.strip(" .,;:!?\"'“”‘’`*_()[]{}<>")
