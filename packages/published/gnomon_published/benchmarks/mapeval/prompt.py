"""Writes the prompt of each protocol; both are worded here, after what the published ones ask for."""

from dataclasses import dataclass

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.ids import stable_hash
from gnomon.core.sample import Part, Sample
from gnomon.core.words import LETTER, closing
from gnomon_published.benchmarks.mapeval.loader import MapQuestion

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CANNOT_BE_TOLD = "The map data do not answer this."
OFFICIAL_ZERO = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayedOptions:
    """The options by the letter or number that the prompt gives them, and the right one's."""

    texts: dict[str, str]
    gold: str
    unanswerable: str


def displayed(question: MapQuestion, protocol: PromptProtocol) -> DisplayedOptions:
    """Official: numbers from 1, as published, and 0 for none. Guarded: letters, dealt by a hash of the id and
    the words, which does not know the right one; options that read the same are one, empty ones are left
    out, and one says that the data do not answer the question.
    """
    if protocol == "official":
        texts = {str(number): text for number, text in enumerate(question.options, start=1)}
        gold = OFFICIAL_ZERO if question.correct is None else str(question.correct + 1)
        return DisplayedOptions(
            texts={**texts, OFFICIAL_ZERO: CANNOT_BE_TOLD}, gold=gold, unanswerable=OFFICIAL_ZERO
        )
    words = dict.fromkeys(" ".join(text.split()) for text in question.options if text.strip())
    right = (
        CANNOT_BE_TOLD if question.correct is None else " ".join(question.options[question.correct].split())
    )
    order = sorted(
        dict.fromkeys((*words, CANNOT_BE_TOLD)),
        key=lambda text: stable_hash(question.sample_id, question.text, text),
    )
    letters = dict(zip(order, LETTERS, strict=False))
    return DisplayedOptions(
        texts={letter: text for text, letter in letters.items()},
        gold=letters.get(right, ""),
        unanswerable=letters[CANNOT_BE_TOLD],
    )


def options_of(sample: Sample) -> DisplayedOptions:
    """The options as the sample's prompt names them; the one that says unanswerable is among them."""
    return displayed(sample.target["question"], sample.target["protocol"])


def parts_of(question: MapQuestion, protocol: PromptProtocol) -> tuple[Part, ...]:
    """The prompt in parts; the published context is the part that arms show as `facts`."""
    return _official(question) if protocol == "official" else _guarded(question)


def _official(question: MapQuestion) -> tuple[Part, ...]:
    count = len(question.options)
    lines = (
        f"Question: {question.text}",
        "Options:",
        *(f"Option{number}: {text}" for number, text in enumerate(question.options, start=1)),
        (
            f"Choose the option that answers the question. Reply with one JSON object and nothing else: "
            f'{{"option_no": a whole number, 1 to {count} for the option you choose or 0 if the question '
            f'cannot be answered, "explanation": "why"}}'
        ),
    )
    return (
        Part(content=f"Context:\n{question.context}", shown="facts"),
        Part(content="\n".join(lines)),
    )


def _guarded(question: MapQuestion) -> tuple[Part, ...]:
    options = displayed(question, "guarded").texts
    lines = (
        "A question about places, to be answered from the data of a map service.",
        f"Question: {question.text}",
        "Options:",
        *(f"{letter}. {text}" for letter, text in options.items()),
        closing(LETTER),
    )
    return (
        Part(content=f"Map data:\n{question.context}", shown="facts"),
        Part(content="\n".join(lines)),
    )
