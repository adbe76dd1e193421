"""Finds near-equal questions among samples that were asked elsewhere, by their prompts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gnomon.core.near_equal import (
    CONTRADICTION,
    Asked,
    NearEqual,
    find_near_equal,
)
from gnomon.core.sample import DataFault
from gnomon.exchange.conversation import Json, prompt_of
from gnomon.exchange.pictures import PLACEHOLDER

MOST_HELD = 200_000_000  # characters of prompts in memory
LEAST_SHARED = 4  # samples, of which more than half have one prompt: it does not tell what each asks
MEDIA_TOLD = "media_told"  # of a trace's `asked`: False where prompts are told without what they showed
_UNTOLD = re.compile(r"[<\[]\W?\s*(?:image|img|picture|video|audio|frames?|file)(?![a-z])", re.IGNORECASE)
_LETTER = re.compile(r"\s*\(?([A-Z])[.):]\s+(?=\S)")  # before an option


class AskedElsewhere:
    """What samples ask, noted trace by trace: the longest prompt of each, and the media of all of them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._media: dict[str, dict[str, None]] = {}
        self._asked: dict[str, Json] = {}
        self._untold: set[str] = set()  # samples that showed something of which no hash is told
        self._held = 0

    def add(self, sample_id: str, trace: Json | None) -> None:
        """Note what a trial of a sample was asked, as far as its trace tells it."""
        texts, media = [], self._media.setdefault(sample_id, {})
        for block in _blocks(trace):
            if isinstance(sha256 := block.get("sha256"), str):
                media[sha256] = None
            else:
                text = str(block.get("text") or "")
                media |= dict.fromkeys(match[2] for match in PLACEHOLDER.finditer(text))
                texts.append(PLACEHOLDER.sub(" ", text))
        text, asked = "\n".join(texts), (trace or {}).get("asked") or {}
        if _UNTOLD.search(text) or asked.get(MEDIA_TOLD) is False:
            self._untold.add(sample_id)
        if text.strip() and self._held <= MOST_HELD and len(text) > len(self._texts.get(sample_id, "")):
            self._held += len(text) - len(self._texts.get(sample_id, ""))
            self._texts[sample_id], self._asked[sample_id] = text, asked

    def near_equal(self) -> tuple[NearEqual, list[DataFault]]:
        """The near-equal questions, and what to say of them.

        None is near-equal where the prompts seem not to tell all that was asked: where most of the samples
        have one prompt, or most of those in the same words have other right answers.
        """
        if self._held > MOST_HELD:
            return NearEqual(), []
        found = find_near_equal(self._questions())
        most = max(map(len, found.groups), default=0)
        several = {name for pair in found.contradictions for name in pair}
        untold = ""
        if most >= LEAST_SHARED and 2 * most > found.looked_at:
            untold = f"{most:,} of {found.looked_at:,} questions have the same prompt"
        elif 2 * sum(not several.isdisjoint(group) for group in found.groups) > len(found.groups):
            untold = found.contradicting()
        if untold:
            detail = f"{untold}: the files may not tell all that was asked, so none counts as near-equal"
            return NearEqual(), [DataFault(sample_id="", kind=CONTRADICTION, detail=detail)]
        return found, list(found.faults())

    def _questions(self) -> Iterator[Asked]:
        for sample_id, text in self._texts.items():
            if sample_id in self._untold:
                continue
            asked = self._asked[sample_id]
            written = asked.get("choices")
            choices = [str(each) for each in written] if isinstance(written, Sequence) else []
            options = tuple(option.strip() for option in _without_letters(choices))
            yield Asked(
                sample_id=sample_id,
                text="\n".join(line for line in text.splitlines() if not _is_option(line, options)),
                options=options,
                media=tuple(self._media[sample_id]),
                answers=tuple(_target(each, options) for each in _listed(asked.get("target"))),
            )


def _without_letters(options: Sequence[str]) -> tuple[str, ...]:
    """The options without the letters A, B, C, … that stand before all of them in this order.

    >>> _without_letters(["A. left", "B. right"]), _without_letters(["A. Smith", "C. Smith"])
    (('left', 'right'), ('A. Smith', 'C. Smith'))
    """
    labels = [_LETTER.match(option) for option in options]
    letters = [match and match[1] for match in labels]
    if letters != [chr(ord("A") + at) for at in range(len(options))]:
        return tuple(options)
    return tuple(option[match.end() :] for option, match in zip(options, labels, strict=True) if match)


def _blocks(trace: Json | None) -> Iterator[Mapping[str, Any]]:
    for message in prompt_of(trace):
        content = message.get("content")
        if message.get("role") != "system":
            yield from [{"text": content}] if isinstance(content, str) else content or ()


def _is_option(line: str, options: Sequence[str]) -> bool:
    """Whether a line of a prompt is one of the options, which come in any order."""
    return bool(options) and _LETTER.sub("", line, count=1).strip() in options


def _listed(target: object) -> list[str]:
    values = target if isinstance(target, list) else [target]
    return [str(value) for value in values if value not in (None, "")]


def _target(target: str, options: Sequence[str]) -> str:
    place = ord(target) - ord("A") if len(target) == 1 and target not in options else -1
    return options[place] if 0 <= place < len(options) else target
