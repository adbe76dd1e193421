"""Options: the choices that stand inside a published question."""

import re

LETTERS = "ABCDEFGHIJ"

_MARKER = re.compile(r"\b(?:choices?|choose|options?)\s*[:：]", re.IGNORECASE)
_OPTION = re.compile(r"^[ \t]*([A-J])[ \t]*[.:：)、][ \t]*(.*?)[ \t]*$", re.MULTILINE)


def split_question(text: str) -> tuple[str, dict[str, str]]:
    r"""The question proper, and its options by letter; no options if the text lists fewer than two.

    They begin behind a marker (Choices, Choice, Choose, Options, Option, with a colon) where there is one,
    and their letters run on from A without a gap; a line without a letter belongs to the option above it.

    >>> split_question("Where is it?\nChoices:\nA. Left\nB. Right")
    ('Where is it?', {'A': 'Left', 'B': 'Right'})
    >>> split_question("Where is it?")
    ('Where is it?', {})
    """
    marker = None
    for marker in _MARKER.finditer(text):
        if _OPTION.search(text, marker.end()):
            break
    start = marker.end() if marker else 0
    run: list[re.Match[str]] = []
    for match in _OPTION.finditer(text, start):
        if len(run) < len(LETTERS) and match[1] == LETTERS[len(run)]:
            run.append(match)
    if len(run) < 2:
        return text.strip(), {}
    ends = [match.start() for match in run[1:]] + [len(text)]
    bodies = {
        match[1]: " ".join(text[match.start(2) : end].split()) for match, end in zip(run, ends, strict=True)
    }
    asked = text[: marker.start() if marker else run[0].start()]
    return asked.strip(), bodies
