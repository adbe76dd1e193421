"""Tries every shortcut on every question, from the files and from each protocol's prompt."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from gnomon.core.audit_plugin import AnswerOptions, Kind, ShortcutGuess, View, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.clock import day_span, span_iou
from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench.audit.rules import RULES, Left, same_interval
from gnomon_published.benchmarks.gtr_bench.audit.shown_question import (
    Seen,
    SeenClip,
    Span,
    seen_in_files,
    seen_in_prompt,
)
from gnomon_published.benchmarks.gtr_bench.case import Case, as_displayed, body_of

KIN_TASKS = ("GL", "ATI", "NSF", "TF", "MTTF")
MOST_VIEWS = 4  # one target is in no more views at once

Label = Callable[[Seen, SeenClip], Hashable | None]
Sighting = tuple[str, SeenClip, Span]  # sample id, clip and its time

_MAP_TARGET = re.compile(r"_map_(\d+)_")


class Kinship:
    """Every timed clip of one view's questions, by a label that should identify targets.

    A label names a target unless it is in more than MOST_VIEWS views at once, or in every question of its
    scene, which identifies none.
    """

    def __init__(self, questions: Sequence[Seen], label: Label) -> None:
        self._label = label
        sightings_by_target: dict[Hashable, list[Sighting]] = defaultdict(list)
        shared: dict[str, set[Hashable]] = {}
        for question in questions:
            names = {label(question, clip) for clip in question.clips}
            shared[question.scene] = shared.get(question.scene, names) & names
            for clip in question.clips:
                if clip.span_s:
                    sightings_by_target[label(question, clip)].append((question.sample_id, clip, clip.span_s))
        no_targets = set().union({None}, *shared.values())
        self._found = {
            name: sightings
            for name, sightings in sightings_by_target.items()
            if name not in no_targets and _is_one_target(sightings)
        }

    def left(self, question: Seen) -> Left:
        """The options that remain after other questions' clips of the same target; None if there are none."""
        names = list(dict.fromkeys(self._label(question, clip) for clip in question.clips))
        if not all(name in self._found for name in names):
            return None
        first, *more = (
            [sighting for sighting in self._found[name] if sighting[0] != question.sample_id]
            for name in names
        )
        return _left(question, first, more[0] if more else None)


def by_target(question: Seen, clip: SeenClip) -> Hashable:
    """The target's name as shown."""
    return question.scene, clip.target


def by_map_file(question: Seen, clip: SeenClip) -> Hashable | None:  # noqa: ARG001 (a Label)
    """The target's id in the name of the map file."""
    match = _MAP_TARGET.search(question.map_file)
    return (question.scene, match[1]) if match else None


def by_repeated_clip(questions: Sequence[Seen]) -> Label:
    """A label for targets that are tied by showing the very same boxes in several questions."""
    import networkx as nx

    graph: nx.Graph[Hashable] = nx.Graph()
    for question in questions:
        for clip in question.clips:
            graph.add_edge((question.sample_id, clip.target), (question.scene, clip.boxes))
    component = {node: index for index, tied in enumerate(nx.connected_components(graph)) for node in tied}
    return lambda question, clip: component.get((question.scene, clip.boxes))


def _is_one_target(sightings: Sequence[Sighting]) -> bool:
    views = {(clip.boxes, span_s) for _, clip, span_s in sightings}
    return all(sum(start <= at < end for _, (start, end) in views) <= MOST_VIEWS for _, (at, _) in views)


def _left(question: Seen, sightings: Sequence[Sighting], other_sightings: Sequence[Sighting] | None) -> Left:
    spans = [clip.span_s for clip in question.clips if clip.span_s]
    if question.task == "ATI":
        return same_interval(question, [span_s for _, _, span_s in sightings])
    if len(spans) < len(question.clips):
        return None
    if question.task == "GL":
        cameras = {clip.camera for _, clip, span_s in sightings if spans[0][0] < span_s[0] < spans[-1][0]}
    elif question.task == "MTTF":
        cameras = _meetings(sightings, other_sightings or ())
    else:
        cameras = _next(question, sightings, spans[-1][0])
    return [index for index, option in enumerate(question.options) if option in cameras]


def _meetings(sightings: Sequence[Sighting], other_sightings: Sequence[Sighting]) -> set[str]:
    return {
        clip.camera
        for _, clip, (start, end) in sightings
        for _, other_clip, (other_start, other_end) in other_sightings
        if clip.camera == other_clip.camera and max(start, other_start) <= min(end, other_end)
    }


def _next(question: Seen, sightings: Sequence[Sighting], after_s: float) -> set[str]:
    """The camera, among the options, of the first clip that starts later."""
    coming = [
        (span_s[0], clip.camera)
        for _, clip, span_s in sightings
        if span_s[0] > after_s and clip.camera in question.options
    ]
    return {min(coming)[1]} if coming else set()


WINDOW_S = 5.0  # to both sides of the end of the last clip
SHORTEST = 6  # characters; shorter names such as `rgb` occur in a text by chance


def answer_options(sample: Sample) -> AnswerOptions | None:
    """The options as the sample's prompt lists them, with the right ones; None if gold is not among them."""
    case = as_displayed(sample.target["case"], sample.target["protocol"])
    if not set(case.choices).issuperset(case.gold):
        return None
    return AnswerOptions(
        options=tuple(body_of(choice) for choice in case.choices),
        right=tuple(case.choices.index(choice) for choice in case.gold),
    )


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """All shortcuts in all views."""
    views: Mapping[View, Sequence[Sample]] = {
        "files": samples["official"],
        "official": samples["official"],
        "guarded": samples["guarded"],
    }
    for view, view_samples in views.items():
        questions = [
            seen_in_files(sample) if view == "files" else seen_in_prompt(sample, view)
            for sample in view_samples
        ]
        options = {
            sample.ref.sample_id: sample_options
            for sample in view_samples
            if (sample_options := answer_options(sample))
        }
        yield from _try_rules(questions, options)
        yield from _try_kinship(questions, options)
        yield from _try_windows(questions, view_samples)
        if view != "files":
            yield from _try_verbatim(questions, view_samples)


def try_floors(sample: Sample) -> Iterator[ShortcutGuess]:
    """Try the floors of one question on what its own prompt shows.

    Raises:
        DataError: the prompt's words cannot be read.
    """
    sample_options = answer_options(sample)
    options = {sample.ref.sample_id: sample_options} if sample_options else {}
    question = seen_in_prompt(sample, sample.target["protocol"])
    tried = [*_try_rules([question], options), *_try_windows([question], [sample])]
    yield from (attempt for attempt in tried if attempt.kind == "floor")


def _try_rules(questions: Iterable[Seen], options: Mapping[str, AnswerOptions]) -> Iterator[ShortcutGuess]:
    for question in questions:
        for name, (kind, tasks, rule) in RULES.items():
            answers = options.get(question.sample_id)
            if question.task in tasks and answers is not None:
                yield guess(
                    name, kind, question.view, question.sample_id, left=rule(question), offered=answers
                )


def _try_kinship(questions: Sequence[Seen], options: Mapping[str, AnswerOptions]) -> Iterator[ShortcutGuess]:
    """Try to find the target in other questions (by id, map file or clip), and use what they show of it."""
    labels: tuple[tuple[str, Kind, Label], ...] = (
        ("target id in other questions", "leak", by_target),
        ("target id in names of map files", "leak", by_map_file),
        ("same clip in other questions", "floor", by_repeated_clip(questions)),
    )
    for name, kind, label in labels:
        kin = Kinship(questions, label)
        for question in questions:
            answers = options.get(question.sample_id)
            if question.task in KIN_TASKS and answers is not None:
                yield guess(
                    name, kind, question.view, question.sample_id, left=kin.left(question), offered=answers
                )


def _try_windows(questions: Iterable[Seen], samples: Iterable[Sample]) -> Iterator[ShortcutGuess]:
    """MTTF: how a window about the end of the last clip overlaps the truth, the camera taken as right."""
    for question, sample in zip(questions, samples, strict=True):
        end_s = question.last_end_s()
        if question.task == "MTTF" and end_s is not None:
            truth = day_span(sample.target["case"].correct_time_str[0])
            overlap = span_iou((end_s - WINDOW_S, end_s + WINDOW_S), truth)
            yield ShortcutGuess(
                shortcut=f"MTTF: last end ± {WINDOW_S:g} s (overlap)",
                kind="floor",
                view=question.view,
                sample_id=question.sample_id,
                value=overlap,
            )


def _try_verbatim(questions: Iterable[Seen], samples: Iterable[Sample]) -> Iterator[ShortcutGuess]:
    """Whether a published file name, or a hidden time, occurs in the prompt word for word."""
    for question, sample in zip(questions, samples, strict=True):
        case: Case = sample.target["case"]
        paths = [case.map_image_path, *(clip.video_path for clip in case.clips)]
        names = {PurePosixPath(path).name for path in paths if path} | {path for path in paths if path}
        middle = case.raw.get("middle_point")
        times = {*case.correct_time_str, *((middle.get("time"),) if isinstance(middle, Mapping) else ())}
        for name, hidden in (("file names in the prompt", names), ("hidden times in the prompt", times)):
            is_printed = any(
                isinstance(text, str) and len(text) >= SHORTEST and text in question.text for text in hidden
            )
            yield ShortcutGuess(
                shortcut=name,
                kind="leak",
                view=question.view,
                sample_id=question.sample_id,
                value=float(is_printed),
                chance=0.0,
            )


def floors_of(sample: Sample) -> dict[str, float]:
    """What each rule that applies gets right of the sample: the option, the camera, or an overlap in time.

    For forecasts the nearest camera is half the answer: it is scored as the camera alone.
    """
    try:
        return {attempt.shortcut: attempt.value for attempt in try_floors(sample) if attempt.applies}
    except DataError:  # a prompt that cannot be read has no floors
        return {}
