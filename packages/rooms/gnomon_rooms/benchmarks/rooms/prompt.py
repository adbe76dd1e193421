"""Writes the prompt: the boxes in words where an arm shows facts, then the question and how to answer."""

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Part
from gnomon.core.words import LETTER, NUMBER, closing
from gnomon_rooms.drawing import RoomQuestion
from gnomon_rooms.reading import Room
from gnomon_rooms.wording import OPENING, RELEASED_LETTER, RELEASED_NUMBER
from gnomon_tools.scene.boxes import HEADER


def parts_of(question: RoomQuestion, protocol: PromptProtocol) -> tuple[Part, ...]:
    """The prompt in parts. `official` closes as the released code does, whose scorer reads one word."""
    draft, lines = question.draft, [OPENING, f"Question: {question.draft.text}"]
    if question.options:
        lines += ["Options:", *(f"{letter}. {words}" for letter, words in question.by_letter.items())]
        lines.append(RELEASED_LETTER if protocol == "official" else closing(LETTER))
    else:
        form = f"{NUMBER} {draft.unit}" if draft.unit else NUMBER
        lines.append(RELEASED_NUMBER if protocol == "official" else closing(form))
    return Part(content=in_words(draft.room), shown="facts"), Part(content="\n".join(lines))


def in_words(room: Room) -> str:
    """All boxes, one a line. The floor's area is not said: no arm can look it up."""
    return "\n".join((f"{HEADER}:", *(box.in_words() for box in room.boxes)))
