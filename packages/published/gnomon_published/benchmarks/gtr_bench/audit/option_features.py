"""Measures the options of questions that cameras and boxes are known of, for an adversary that learns."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from gnomon.core.clock import NOON_S, clocks_told_s
from gnomon.core.option_features import OptionTable
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench.case import CAMERA_ID, Case, as_displayed, body_of
from gnomon_published.benchmarks.gtr_bench.option_features import Asked, option_features
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import Evidence, evidence
from gnomon_published.benchmarks.gtr_bench.way_features import way_features
from gnomon_tools.scene.scene import Scene

CAMERA_TASKS = ("GL", "NSF", "TF", "MTTF")


def option_tables(samples: Sequence[Sample]) -> Iterator[OptionTable]:
    """Two tables for each task and number of options: without the map, and with it."""
    groups: dict[tuple[str, int], list[tuple[str, Asked, Scene]]] = defaultdict(list)
    for sample in samples:
        if sample.scene and (seen := _seen(sample, sample.scene)):
            asked, options = seen
            groups[asked.task, len(options)].append((sample.ref.sample_id, seen, sample.scene))
    for measured in groups.values():
        names, columns = option_features([seen for _, seen, _ in measured])
        sample_ids = tuple(sample_id for sample_id, *_ in measured)
        yield OptionTable(sees="without the map", names=names, sample_ids=sample_ids, options=columns)
        names, columns = way_features([(seen, scene) for _, seen, scene in measured], names, columns)
        yield OptionTable(sees="with the map", names=names, sample_ids=sample_ids, options=columns)


def _seen(sample: Sample, scene: Scene) -> Asked | None:
    """What there is to measure; None where a camera has no place, or boxes are too few."""
    case: Case = as_displayed(sample.target["case"], sample.target["protocol"])
    options, task = [body_of(choice) for choice in case.choices], case.task.short
    filmed = {clip.camera_id for clip in case.clips}
    asked = [name for name in CAMERA_ID.findall(case.question) if name not in filmed]
    ahead_s = clocks_told_s(case.question)
    clips = []
    for clip in case.clips:
        true_s = NOON_S - ahead_s.get(clip.camera_id, 0.0)
        boxes = [[str(number) for number in box] for box in clip.bboxes]
        span_s = None if task == "CR" else (true_s + clip.start_s, true_s + clip.end_s)
        clips.append((clip.camera_id, boxes, span_s))
    seen = evidence(task, clips, scene.cameras, asked=asked[0] if asked else "")
    return (seen, options) if seen and _is_measurable(seen, options) else None


def _is_measurable(seen: Evidence, options: Sequence[str]) -> bool:
    known = seen.spots.keys() & seen.posts.keys()
    named = {track.camera for track in seen.tracks}
    if seen.task in CAMERA_TASKS:
        named |= set(options)
    if seen.task == "ATI":
        named.add(seen.asked)
    is_whole = seen.task != "CR" or all(set(option.split(" → ")) == named for option in options)
    return named <= known and is_whole
