"""Prompts of a question: as the authors ask it (official), or options anew and frames timed (guarded)."""

from gnomon.benchmarks.escherverse.item import FILL_IN, LETTERS, MULTIPLE, SINGLE, TRUE_FALSE, Item
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Part
from gnomon.media.clip_samples import labelled_frames
from gnomon.media.clips import Frames

_FORMS = {
    SINGLE: "the letter of the one right option",
    MULTIPLE: "the letters of all right options, separated by commas",
    TRUE_FALSE: "True or False",
    FILL_IN: "the words that fill the blank",
}


def parts_of(item: Item, protocol: PromptProtocol, frames: Frames | None) -> tuple[Part, ...]:
    """The prompt: text, then pictures; `item` as that protocol shows it."""
    if protocol != "guarded":
        pictures = tuple(Part(content=image, shown="media") for image in frames.images) if frames else ()
        return (Part(content=_official_text(item)), *pictures)
    absent = () if frames else (Part(content="Frames of the clip: not available.", shown="media"),)
    return (*absent, *labelled_frames(frames), Part(content=_guarded_text(item)))


def _official_text(item: Item) -> str:
    return (
        "Look closely at the frames of the video given here, then answer the question below.\n"
        "Put the final answer, and nothing else, between `<answer>` and `</answer>`.\n\n"
        f"Question: {item.question}"
    )


def _guarded_text(item: Item) -> str:
    lines = [f"Question: {item.body}"]
    lines += [f"{LETTERS[at]}) {option}" for at, option in enumerate(item.options)]
    form = _FORMS.get(item.kind, "the answer")
    lines.append(f"Put the final answer ({form}) between <answer> and </answer>, and nothing else there.")
    return "\n".join(lines)
