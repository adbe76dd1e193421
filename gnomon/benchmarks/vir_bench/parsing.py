"""Parsing as released: a fenced block or the whole reply, read as YAML, which forgives more than JSON."""

import re

import yaml

SAFETY = "Gemini failed due to safety issues"  # what the authors' wrapper returns after five failed calls

_FENCED = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


def parse_reply(reply: str) -> object:
    r"""What a reply says, as plain data; None if it is no YAML.

    >>> parse_reply("{'prefectures': [Tokyo, No],}")
    {'prefectures': ['Tokyo', False]}
    >>> parse_reply("a: b: c") is None
    True
    """
    fenced = _FENCED.search(reply)
    text = fenced[1] if fenced else reply
    if not fenced and "\nSummary:" in text:
        text = text.split("\nSummary:")[0].strip()
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def prediction(reply: str) -> dict[object, object] | str:
    """What is scored: a mapping, empty where the reply holds none, or the marker of refused calls."""
    if reply == SAFETY:
        return SAFETY
    found = parse_reply(reply)
    return found if isinstance(found, dict) else {}
