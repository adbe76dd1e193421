"""Audits one's own questions: the order of options, what words give away, and rows that contradict others."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from gnomon.benchmarks.questions.floors import FIRST
from gnomon.benchmarks.questions.question import OwnQuestion, displayed_in
from gnomon.benchmarks.questions.samples import asked_of
from gnomon.benchmarks.questions.scorers.text import TextScorer
from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.ids import stable_hash
from gnomon.core.near_equal import CONTRADICTION, find_near_equal
from gnomon.core.option_features import WORDED, OptionTable, worded
from gnomon.core.sample import DataFault, ImageRef, Sample
from gnomon.reading.characters import bare
from gnomon_tools.geometry.network import Network
from gnomon_tools.scene.scene import Scene

APART = ("nearest", "farthest", "all together")
FAR_M = 1e5  # where there is no way
MIN_NAMED = 3  # characters of an answer that is looked for in the prompt


def answer_options(sample: Sample) -> AnswerOptions | None:
    """The options as the sample's prompt letters them."""
    question = displayed_in(sample)
    if not question.options:
        return None
    letters = list(question.options)
    return AnswerOptions(options=tuple(question.options.values()), right=(letters.index(question.gold),))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess the first option, those that the question names, and what other questions are answered with."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            name, offered = sample.ref.sample_id, answer_options(sample)
            if offered is None:
                yield from _usual(sample, protocol)
                continue
            yield guess(FIRST, "leak", protocol, name, left=[0], offered=offered)
            words = bare(_words(displayed_in(sample)))
            named = [at for at, text in enumerate(offered.options) if _is_named(text, words)]
            left = named if len(named) < len(offered.options) else None
            yield guess("named in the question", "floor", protocol, name, left=left, offered=offered)


def option_tables(samples: Sequence[Sample]) -> Iterator[OptionTable]:
    """What options say, and where a scene knows them as cameras or places, how far they are from those asked.

    One table for each task and number of options; with the map where all its questions have such options.
    """
    groups: dict[tuple[str, int], list[tuple[str, OwnQuestion, Scene | None]]] = defaultdict(list)
    for sample in samples:
        question = displayed_in(sample)
        if question.options:
            key = (question.task, len(question.options))
            groups[key].append((sample.ref.sample_id, question, sample.scene))
    for group in groups.values():
        sample_ids = tuple(sample_id for sample_id, *_ in group)
        said = [worded(list(question.options.values()), _words(question)) for _, question, _ in group]
        yield OptionTable(sees="without the map", names=WORDED, sample_ids=sample_ids, options=np.array(said))
        placed = [_apart(question, scene) if scene else None for _, question, scene in group]
        if None not in placed:
            both = np.concatenate([np.array(said), np.array(placed, dtype=np.float64)], axis=2)
            names = (*WORDED, *(f"{what}, {how}" for how in ("straight", "by way") for what in APART))
            yield OptionTable(sees="with the map", names=names, sample_ids=sample_ids, options=both)


def _apart(question: OwnQuestion, scene: Scene) -> list[list[float]] | None:
    """Of each option the metres to what is asked about; None where it or all of that is unknown."""
    known = {bare(camera.id): (camera.xy_m, camera.floor) for camera in scene.cameras.values() if camera.xy_m}
    known |= {bare(place.name): (place.xy_m, place.floor) for place in scene.places.values()}
    words = bare(_words(question))
    goals = [spot for name, spot in known.items() if _is_named(name, words)]
    offered = [known.get(bare(text)) for text in question.options.values()]
    spots = [spot for spot in offered if spot is not None]
    if not goals or len(spots) < len(offered):
        return None
    network = Network.of(scene)
    rows = []
    for spot in spots:
        straight = [math.dist(spot[0], other[0]) for other in goals]
        ways = [min(network.length_m(*spot, *other), FAR_M) for other in goals]
        rows.append([kind(lengths) for lengths in (straight, ways) for kind in (min, max, sum)])
    return rows


def _usual(sample: Sample, protocol: PromptProtocol) -> Iterator[ShortcutGuess]:
    usual = sample.target.get("usual")
    if usual is not None:
        rule, response = usual
        question = displayed_in(sample)
        value = question.scorer.score(question.truth, response).value or 0.0
        yield ShortcutGuess(
            shortcut=rule,
            kind="floor",
            view=protocol,
            sample_id=sample.ref.sample_id,
            value=value,
        )


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Questions that say their own answer, and those that are asked twice with different answers."""
    for sample in samples:
        question = displayed_in(sample)
        if isinstance(question.scorer, TextScorer) and not question.options:
            words = bare(_words(question))
            said = [text for text in question.truth.value if _is_named(text, words)]
            if said:
                yield DataFault(sample_id=sample.ref.sample_id, kind="answer_in_prompt", detail=said[0][:60])
    questions = {sample.ref.sample_id: displayed_in(sample) for sample in samples}
    texts = (asked_of(questions[sample.ref.sample_id], tuple(_media(sample))) for sample in samples)
    for first, second in find_near_equal(texts).contradictions:
        right = [_right(questions[name])[:60] for name in (first, second)]
        detail = f"asks the same as {first}, where {right[0]!r} is right, not {right[1]!r}"
        yield DataFault(sample_id=second, kind=CONTRADICTION, detail=detail)


def _media(sample: Sample) -> Iterator[str]:
    pictures: tuple[ImageRef, ...] = sample.target.get("pictures", ())
    yield from (picture.sha256 for picture in pictures)
    question = displayed_in(sample)
    yield stable_hash(question.clip, question.scene_source)


def _right(question: OwnQuestion) -> str:
    return question.options.get(question.gold, question.truth.text)


def _words(question: OwnQuestion) -> str:
    return f"{question.context}\n{question.text}"


def _is_named(text: str, words: str) -> bool:
    plain = bare(text)
    return len(plain) >= MIN_NAMED and re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", words) is not None
