"""Plays: every shortcut tried on every question, from the files and from each protocol's prompt."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from gnomon.audit.hook import Asked, Kind, ShortcutGuess, View, guess
from gnomon.benchmarks.gtr_bench.audit.kinship import (
    KIN_TASKS,
    Kinship,
    Label,
    by_map_file,
    by_repeated_clip,
    by_target,
)
from gnomon.benchmarks.gtr_bench.audit.rules import RULES
from gnomon.benchmarks.gtr_bench.audit.seen import Seen, seen_in_files, seen_in_prompt
from gnomon.benchmarks.gtr_bench.case import Case, body_of
from gnomon.benchmarks.gtr_bench.clock import day_span
from gnomon.benchmarks.gtr_bench.options import as_displayed
from gnomon.benchmarks.gtr_bench.strict import span_iou
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Sample

WINDOW_S = 5.0  # to both sides of the end of the last clip
SHORTEST = 6  # characters; shorter names such as `rgb` stand in a text by chance


def asked(sample: Sample) -> Asked | None:
    """The options as the sample's prompt lists them, and the right ones; None if it lists these not."""
    case = as_displayed(sample.target["case"], sample.target["protocol"])
    if not set(case.choices).issuperset(case.gold):
        return None
    return Asked(
        options=tuple(body_of(choice) for choice in case.choices),
        right=tuple(case.choices.index(choice) for choice in case.gold),
    )


def plays(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """All shortcuts in all views."""
    views: Mapping[View, Sequence[Sample]] = {
        "files": samples["official"],
        "official": samples["official"],
        "guarded": samples["guarded"],
    }
    for view, given in views.items():
        questions = [seen_in_files(one) if view == "files" else seen_in_prompt(one, view) for one in given]
        options = {one.ref.sample_id: told for one in given if (told := asked(one))}
        yield from _rule_plays(questions, options)
        yield from _kinship_plays(questions, options)
        yield from _window_plays(questions, given)
        if view != "files":
            yield from _verbatim_plays(questions, given)


def floor_plays(sample: Sample) -> Iterator[ShortcutGuess]:
    """What lies in a question itself, tried on one sample by what its own prompt shows.

    Raises:
        DataError: the prompt's words cannot be read.
    """
    told = asked(sample)
    options = {sample.ref.sample_id: told} if told else {}
    seen = seen_in_prompt(sample, sample.target["protocol"])
    tried = [*_rule_plays([seen], options), *_window_plays([seen], [sample])]
    yield from (play for play in tried if play.kind == "floor")


def _rule_plays(questions: Iterable[Seen], options: Mapping[str, Asked]) -> Iterator[ShortcutGuess]:
    for seen in questions:
        for name, (kind, tasks, rule) in RULES.items():
            one = options.get(seen.sample_id)
            if seen.task in tasks and one is not None:
                yield guess(name, kind, seen.view, seen.sample_id, left=rule(seen), asked=one)


def _kinship_plays(questions: Sequence[Seen], options: Mapping[str, Asked]) -> Iterator[ShortcutGuess]:
    """Who is who by id, by map file or by a clip shown twice, and what the other questions tell of them."""
    labels: tuple[tuple[str, Kind, Label], ...] = (
        ("target id in other questions", "leak", by_target),
        ("target id in names of map files", "leak", by_map_file),
        ("same clip in other questions", "floor", by_repeated_clip(questions)),
    )
    for name, kind, label in labels:
        kin = Kinship(questions, label)
        for seen in questions:
            one = options.get(seen.sample_id)
            if seen.task in KIN_TASKS and one is not None:
                yield guess(name, kind, seen.view, seen.sample_id, left=kin.left(seen), asked=one)


def _window_plays(questions: Iterable[Seen], samples: Iterable[Sample]) -> Iterator[ShortcutGuess]:
    """MTTF: how a window about the end of the last clip overlaps the truth, the camera taken as right."""
    for seen, sample in zip(questions, samples, strict=True):
        end_s = seen.last_end_s()
        if seen.task == "MTTF" and end_s is not None:
            truth = day_span(sample.target["case"].correct_time_str[0])
            overlap = span_iou((end_s - WINDOW_S, end_s + WINDOW_S), truth)
            yield ShortcutGuess(
                shortcut=f"MTTF: last end ± {WINDOW_S:g} s (overlap)",
                kind="floor",
                view=seen.view,
                sample_id=seen.sample_id,
                value=overlap,
                chance=None,
            )


def _verbatim_plays(questions: Iterable[Seen], samples: Iterable[Sample]) -> Iterator[ShortcutGuess]:
    """Whether a published file name, or a hidden time, stands in the prompt word for word."""
    for seen, sample in zip(questions, samples, strict=True):
        case: Case = sample.target["case"]
        paths = [case.map_image_path, *(clip.video_path for clip in case.clips)]
        names = {PurePosixPath(path).name for path in paths if path} | {path for path in paths if path}
        middle = case.raw.get("middle_point")
        times = {*case.correct_time_str, *((middle.get("time"),) if isinstance(middle, Mapping) else ())}
        for name, hidden in (("file names in the prompt", names), ("hidden times in the prompt", times)):
            stands = any(
                isinstance(text, str) and len(text) >= SHORTEST and text in seen.text for text in hidden
            )
            yield ShortcutGuess(
                shortcut=name,
                kind="leak",
                view=seen.view,
                sample_id=seen.sample_id,
                value=float(stands),
                chance=0.0,
            )
