"""What each category asks, and the forms of its question and options; the words are ours."""

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon_published.benchmarks.urbanvideo_bench.loader import TASKS


@dataclass(frozen=True, slots=True)
class Template:
    """What is asked, a form for the question, a form for an option, and how many options there are."""

    explains: str
    question: str
    option: str
    options: int = 5


_FORMS = (
    Template(
        "A summary of the whole way: start, end, and the objects along it.",
        "Which option sums up the drone's way best?",
        "From [place] to [place], by [movements past objects].",
    ),
    Template(
        "What was done right after a movement.", "What does the drone do after [movement]?", "[movement]"
    ),
    Template(
        "What stands beside a named object.", "What is [relation] the [object]?", "[object with details]"
    ),
    Template(
        "What is seen during one stretch.", "What does the drone see while it [movement]?", "[objects seen]"
    ),
    Template(
        "Where the way begins and ends.", "Where does the drone start and end?", "From [place] to [place]."
    ),
    Template(
        "Whether a distance grows or shrinks during a movement.",
        "How does the distance to the [object] change after [movement]?",
        "It [grows, shrinks or stays].",
        3,
    ),
    Template(
        "Which of two movements takes longer.",
        "Which takes longer, [movement] or [movement]?",
        "[one], [the other], or both alike.",
        3,
    ),
    Template(
        "Where a landmark lies, seen from where the drone is now.",
        "On the way to [goal], where is [landmark] seen from the drone now?",
        "[direction and height]",
    ),
    Template(
        "Whether the goal is in view now, and where in it.",
        "On the way to [goal], is it in view now, and where?",
        "[not in view, or the part of the view]",
    ),
    Template(
        "The way so far as a chain of places.",
        "Which chain of places is the drone's map of its way?",
        "[place] -> [place] -> [place]",
    ),
    Template(
        "Why a movement was made.", "Why did the drone [movement]?", "Because [reason seen in the video]."
    ),
    Template(
        "What another way would have led to.",
        "If the drone had [other movement] instead of [movement], could it still reach [goal]?",
        "[Yes or no], because [reason].",
        3,
    ),
    Template(
        "What hints at a goal that is not in view.",
        "On the way to [goal], which thing in view tells where to look for it?",
        "[object and how it is related to the goal]",
    ),
    Template(
        "Which step of a given route is being flown.",
        "On the route [steps], which step is the drone at now?",
        "[step and how far it is done]",
    ),
    Template(
        "What to do next, in terms of places.",
        "On the way to [goal], what should the drone do next?",
        "[plan in terms of places in view]",
    ),
    Template(
        "The very next control command.",
        "On the way to [goal], what is the drone's next movement?",
        "[ascend, descend, forward, turn or tilt the camera]",
    ),
)

TEMPLATES: Mapping[str, Template] = dict(zip(TASKS, _FORMS, strict=True))
