"""Scores as released, to the letter: nodes by level, edges by kind; the golden vectors hold both."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import yaml

from gnomon.core.score import Score
from gnomon_published.benchmarks.vir_bench.journey import STORE_UNKNOWN, Journey, Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Precision, recall and F1; above 1 where a rule counts one prediction twice."""

    precision: float
    recall: float
    f1: float

    def items(self) -> Iterable[tuple[str, float]]:
        return (("precision", self.precision), ("recall", self.recall), ("f1", self.f1))


ZERO = Measure(precision=0.0, recall=0.0, f1=0.0)


def measure(*, hits: int, predicted: int, gold: int) -> Measure:
    """The measure of `hits` among that many predictions and that many golds.

    >>> measure(hits=1, predicted=2, gold=1)
    Measure(precision=0.5, recall=1.0, f1=0.6666666666666666)
    >>> measure(hits=0, predicted=0, gold=0)
    Measure(precision=0.0, recall=0.0, f1=0.0)
    """
    precision = hits / predicted if predicted > 0 else 0.0
    recall = hits / gold if gold > 0 else 0.0
    total = precision + recall
    return Measure(
        precision=precision, recall=recall, f1=2 * precision * recall / total if total > 0 else 0.0
    )


def flat(levels: Mapping[str, Measure]) -> dict[str, float | str | None]:
    """By `level.measure`, for a score's metrics."""
    return {
        f"{level}.{name}": value
        for level, level_measure in levels.items()
        for name, value in level_measure.items()
    }


SAFETY = "Gemini failed due to safety issues"  # what the authors' wrapper returns after five failed calls

_FENCED = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


def parse_reply(reply: str) -> object:
    r"""What a reply says, as plain data; None if it is not YAML.

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
    reply_data = parse_reply(reply)
    return reply_data if isinstance(reply_data, dict) else {}


NODE_LEVELS = ("prefectures", "cities", "points_of_interest")
EDGE_KINDS = ("inclusion", "transition")
ALIKE = 0.70  # difflib's ratio above which two names are one
ALIKE_OF_KIND = 0.55  # the same if the category fits; the paper says 0.5

_NAME_AND_CATEGORY = re.compile(r"^(.+?)\s*\(([^)]+)\)$")


def score_nodes(journey: Journey, reply: str | None) -> Score:
    """Overall F1 of node prediction. The marker of refused calls is left out of the average: unscored."""
    answer = prediction(reply or "")
    if isinstance(answer, str):
        return Score(value=None, reason="the provider's safety marker: the official average leaves it out")
    try:
        levels = node_measures(journey.gold_nodes(), answer)
    except (TypeError, AttributeError, ZeroDivisionError) as error:
        return _raised(error, (*NODE_LEVELS, "overall"))
    return _score(levels, reply, answer, lists=NODE_LEVELS)


def score_edges(journey: Journey, reply: str | None) -> Score:
    """Overall F1 of edge prediction, clipped to 1; the marker of refused calls counts as zeros."""
    answer = prediction(reply or "")
    try:
        levels = edge_measures(journey.gold_edges(), answer)
    except (TypeError, AttributeError) as error:
        return _raised(error, (*EDGE_KINDS, "overall"))
    return _score(levels, reply, answer, lists=("edges",))


def node_measures(gold: Mapping[str, Sequence[Spot]], answer: Mapping[Any, Any]) -> dict[str, Measure]:
    """Each level and, weighted by the golds of each, overall.

    Raises:
        TypeError, AttributeError: a list is null, a place is not a text, or a gold place has no category.
        ZeroDivisionError: no level has gold.
    """
    levels = {level: _level(gold[level], answer.get(level, []), level) for level in NODE_LEVELS}
    count = sum(len(gold[level]) for level in NODE_LEVELS)
    totals = {
        name: sum(len(gold[level]) * dict(levels[level].items())[name] for level in NODE_LEVELS) / count
        for name, _ in ZERO.items()
    }
    return {**levels, "overall": Measure(**totals)}


def _level(gold: Sequence[Spot], predicted: Any, level: str) -> Measure:
    return measure(hits=len(level_pairs(gold, predicted, level)), predicted=len(predicted), gold=len(gold))


def level_pairs(gold: Sequence[Spot], predicted: Any, level: str) -> list[tuple[int, int]]:
    """Which gold took which prediction: each in turn the first unused one that fits."""
    used: dict[int, int] = {}
    for place, spot in enumerate(gold):
        for number, name in enumerate(predicted):
            if number in used:
                continue
            if _fits(spot, name, level):
                used[number] = place
                break
    return [(place, number) for number, place in used.items()]


def _fits(spot: Spot, predicted: Any, level: str) -> bool:
    if level != "points_of_interest":
        return bool(predicted in [spot.ja, spot.en])
    name, category = split_place(predicted)
    return same_place(place_names(spot), place_categories(spot), name, category)


def split_place(predicted: str) -> tuple[str, str | None]:
    """Name and category of a predicted `name (category)`; the name trimmed and in lower case.

    >>> split_place("Cafe (A) (cafe)"), split_place("Tokyo Tower (cafe) ")
    (('cafe (a)', 'cafe'), ('tokyo tower (cafe)', None))
    """
    match = _NAME_AND_CATEGORY.match(predicted)
    if match:
        return match[1].strip().lower(), match[2].strip()
    return predicted.strip().lower(), None


def place_names(spot: Spot) -> list[str]:
    """The names by which a place may be called."""
    ja, en = spot.ja.replace(STORE_UNKNOWN["ja"], ""), spot.en.replace(STORE_UNKNOWN["en"], "")
    names = ((spot.ja, ja), (spot.en, en), (spot.store_name, spot.store_name))
    return [name.strip().lower() for published, name in names if published]


def place_categories(spot: Spot) -> list[str] | None:
    """The map service's types, else the annotator's category, else None."""
    return list(spot.types) or ([spot.category] if spot.category else None)


def same_place(
    names: Sequence[str], categories: Sequence[str] | None, name: str, category: str | None
) -> bool:
    """Whether a predicted name is that of a place: alike, or less alike but of its category.

    Raises:
        TypeError: a name is alike enough for the category to decide, and the place has none.
    """
    for place_name in names:
        ratio = SequenceMatcher(None, place_name, name).ratio()
        if ratio > ALIKE:
            return True
        if ratio > ALIKE_OF_KIND and category in categories:  # type: ignore[operator]  # as released
            return True
    return False


def edge_measures(gold: Sequence[Mapping[str, str]], answer: Any) -> dict[str, Measure]:
    """Each kind and, pooled, overall. A gold edge is found if an equal object is among the predictions, so
    that one prediction may find two equal golds.

    Raises:
        TypeError, AttributeError: `edges` cannot be iterated.
    """
    edges = answer["edges"] if answer and "edges" in answer else None
    if edges is None:
        return dict.fromkeys((*EDGE_KINDS, "overall"), ZERO)
    levels, counts = {}, [0, 0, 0]
    for kind in EDGE_KINDS:
        gold_of_kind = [edge for edge in gold if edge["type"] == kind]
        predicted = [edge for edge in edges if isinstance(edge, dict) and edge.get("type") == kind]
        numbers = (sum(edge in predicted for edge in gold_of_kind), len(predicted), len(gold_of_kind))
        levels[kind] = measure(hits=numbers[0], predicted=numbers[1], gold=numbers[2])
        counts = [total + number for total, number in zip(counts, numbers, strict=True)]
    return {**levels, "overall": measure(hits=counts[0], predicted=counts[1], gold=counts[2])}


def _score(levels: Mapping[str, Measure], reply: str | None, answer: Any, *, lists: Sequence[str]) -> Score:
    overall = levels["overall"].f1
    understood = isinstance(answer, Mapping) and any(name in answer for name in lists)
    over = any(value > 1 for measure in levels.values() for _, value in measure.items())
    flags = [*(["gamed:above_one"] if over else []), *([] if understood else ["no_answer"])]
    if answer == SAFETY:
        flags.append("safety_marker")
    return Score(
        value=min(overall, 1.0),
        answer=reply if understood else None,
        metrics=flat(levels),
        flags=tuple(flags),
    )


def _raised(error: Exception, levels: Sequence[str]) -> Score:
    return Score(
        value=0.0,
        metrics=flat(dict.fromkeys(levels, ZERO)),
        flags=(f"official_raises:{type(error).__name__}",),
    )


def averaged(results: Sequence[Mapping[str, Measure]], levels: Sequence[str]) -> dict[str, Measure]:
    """Each number averaged over videos; all zeros without videos."""
    return {
        level: Measure(
            **{
                name: sum(dict(result[level].items())[name] for result in results) / len(results)
                if results
                else 0.0
                for name, _ in ZERO.items()
            }
        )
        for level in (*levels, "overall")
    }
