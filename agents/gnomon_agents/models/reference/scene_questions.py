"""Answers plain questions about a scene by rules: how far, in which direction, which is nearest, who sees it.

They are questions of one's own (gnomon/benchmarks/questions), with places and cameras called by their names.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon.core.ids import stable_seed
from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_agents.models.reference.tool_results import Call, Evidence, read_evidence, texts_of
from gnomon_tools.geometry.angles import turn_deg

_QUESTION = re.compile(
    r"^Question: (.*?)^((?:Answer with|End your last message) .*)\Z", re.MULTILINE | re.DOTALL
)
_OPTION = re.compile(r"^([A-Z])\. (.*)$", re.MULTILINE)
_FAR = re.compile(r"\bhow (?:far|long)\b.*?\bfrom (?:the )?(.+?) to (?:the )?(.+?)[?,]", re.IGNORECASE)
_DIRECTION = re.compile(r"\bdirection\b.*?\bfrom (?:the )?(.+?) to (?:the )?(.+?)[?,]", re.IGNORECASE)
_NEAREST = re.compile(r"\bnearest to (?:the )?(.+?)(?:\?|,| in a straight line)", re.IGNORECASE)
_SEES = re.compile(r"\bcameras? sees? (?:the )?(.+?)\?", re.IGNORECASE)
_WAY = re.compile(r"\b(?:street|road|way|walk|path|foot)", re.IGNORECASE)
_FORM = re.compile(r"`Answer: (.+?)`")
POINTS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
GUESSED_M = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneQuestion:
    """The question, its options by letter, and the form of the answer, where it is no letter."""

    text: str
    options: Mapping[str, str]
    form: str

    def reply(self, value: object, why: str) -> str:
        """The answer in the form that the prompt asks for."""
        if isinstance(value, int | float):
            value = float(f"{value:.4g}")
        return f"{why}\n{json.dumps({'answer': value}, ensure_ascii=False)}"


def read_scene_question(messages: Sequence[Message]) -> SceneQuestion | None:
    """The question of such messages; None where they ask something else."""
    match = next((match for text in texts_of(messages) if (match := _QUESTION.search(text))), None)
    if match is None:
        return None
    text = " ".join(match[1].partition("\nOptions:")[0].split())
    options = {letter: words.strip() for letter, words in _OPTION.findall(match[1])}
    form = None if options else _FORM.search(match[2])
    if form is None and not any(pattern.search(text) for pattern in (_DIRECTION, _NEAREST)):
        return None
    return SceneQuestion(text=text, options=options, form=form[1] if form else "")


def _answer(question: SceneQuestion, request: Request) -> str:
    """The reply, as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    evidence = read_evidence(request)
    value = _measured(question, evidence)
    if value is not None:
        return question.reply(value, "This is what the tools measure.")
    why = "This is a guess." if evidence.offered else "I have no tools to measure with. This is a guess."
    if question.options:
        order = sorted(
            question.options, key=lambda letter: stable_seed(question.text, question.options[letter])
        )
        return question.reply(order[0], why)
    return question.reply(GUESSED_M if question.form.startswith("<number>") else [], why)


def _measured(question: SceneQuestion, evidence: Evidence) -> object | None:
    """What the tools say; None where they say nothing."""
    if match := _FAR.search(question.text):
        result = evidence.ask([_between("distance", match[1], match[2])], "How far is it?")[0] or {}
        return result.get("path_m" if _WAY.search(question.text) else "straight_m")
    if match := _DIRECTION.search(question.text):
        result = evidence.ask([_between("bearing", match[1], match[2])], "Which way is it?")[0] or {}
        return _compass_option(question.options, result.get("bearing_deg"))
    if match := _NEAREST.search(question.text):
        return _nearest(question.options, match[1], evidence)
    if match := _SEES.search(question.text):
        return _seeing(match[1], evidence)
    return None


def _between(tool: str, start: str, end: str) -> Call:
    return Call(tool, {"start": {"place": start}, "end": {"place": end}})


def _compass_option(options: Mapping[str, str], bearing_deg: object) -> str | None:
    if not isinstance(bearing_deg, int | float):
        return None
    off = {
        letter: abs(turn_deg(45 * POINTS.index(words.lower()), bearing_deg))
        for letter, words in options.items()
        if words.lower() in POINTS
    }
    return min(off, key=lambda letter: off[letter]) if off else None


def _nearest(options: Mapping[str, str], name: str, evidence: Evidence) -> str | None:
    plain = {letter: words.removeprefix("the ").removeprefix("The ") for letter, words in options.items()}
    calls = [_between("distance", name, words) for words in plain.values()]
    results = evidence.ask(calls, "How far is each of them?")
    metres = {
        letter: result["straight_m"]
        for letter, result in zip(plain, results, strict=True)
        if result is not None
    }
    return min(metres, key=lambda letter: metres[letter]) if metres else None


def _seeing(name: str, evidence: Evidence) -> list[str] | None:
    matches = (evidence.ask([Call("lookup", {"name": name})], "Where is it?")[0] or {}).get("matches") or ()
    at = next((match for match in matches if match.get("x_m") is not None), None)
    if at is None:
        return None
    call = Call("cameras_seeing", {"points": [[at["x_m"], at["y_m"]]], "floor": at.get("floor", 0)})
    seeing = evidence.ask([call], "Which cameras see that point?")[0]
    return None if seeing is None else [row["camera"] for row in seeing["cameras"]]


scenes = Solver.of(
    "scenes", "Answers plain questions on a scene.", read=read_scene_question, answer=_answer, place=60
)
