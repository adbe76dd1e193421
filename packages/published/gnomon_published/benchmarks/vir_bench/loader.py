"""Reads the selected videos of the published parquet files, each asked for nodes and for edges.

The released scripts sample 64 to 256 frames, as many as each model takes; the wrapper for OpenAI-like models
spreads 256 evenly from the first frame to the last. Guarded shows 64, each with its time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_hash
from gnomon.core.sample import DataFault, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_folders import ClipFolders, absence
from gnomon.media.clip_frames import show_clip
from gnomon.media.clip_samples import ClipSamples, read_rows
from gnomon.media.clips import Clips, Look
from gnomon.media.frame_rules import FrameRule, Spread, Uniform, as_asked
from gnomon_published.benchmarks.vir_bench.journey import Journey, Language, journey_from_json
from gnomon_published.benchmarks.vir_bench.prompt import parts_of
from gnomon_published.gazetteer.japan import JAPAN
from gnomon_published.unique_rows import unique_rows
from gnomon_tools.core.inputs import held

SUBTASKS = ("node", "edge")
SPLITS = ("test", "validation")
OFFICIAL, GUARDED = 256, 64  # frames
LOOKS: Mapping[PromptProtocol, Look] = {
    "official": Look(max_side_px=1024),
    "guarded": Look(max_side_px=768, quality=85),
}


def rule_of(protocol: PromptProtocol, *, frames: int | None, fps: float | None) -> FrameRule:
    """The protocol's rule, with its own number of frames or the job's."""
    rule, count = (Spread, OFFICIAL) if protocol == "official" else (Uniform, GUARDED)
    return as_asked(rule, count, frames=frames, fps=fps)


def timestamps_s(duration_s: float, count: int = 64) -> list[float]:
    """Seconds of the frames of the released helper for frame models: one per second, or `count` spans.

    >>> timestamps_s(3), timestamps_s(8, 4)
    ([0, 1, 2], [0.0, 2.0, 4.0, 6.0])
    """
    if duration_s <= count:
        return list(range(int(duration_s)))
    return [duration_s / count * step for step in range(count)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """A published row: its split and graph."""

    video_id: str
    split: str
    journey: Journey


Subtask = tuple[SampleRef, Journey]  # what is asked of a video


def ref_of(video_id: str, task: str) -> SampleRef:
    """The reference of a video's subtask: its cell is the subtask, its cluster is the video."""
    return SampleRef(sample_id=f"{video_id}.{task}", task=task, cell=task, cluster=video_id)


def _sample(
    subtask: Subtask, *, folders: ClipFolders, clips: Clips, rule: FrameRule, protocol: PromptProtocol
) -> Sample:
    ref, journey = subtask
    name = f"{ref.cluster}.mp4"
    clip = show_clip(clips, folders.find(name), name, rule, LOOKS[protocol])
    return Sample(
        ref=ref,
        parts=parts_of(journey, ref.task, protocol, clip.frames),
        target={"journey": journey, "subtask": ref.task},
        inputs=held(clip.footage, JAPAN),
        missing=clip.missing,
        broken=clip.fault,
    )


def open_samples(
    *, data: Path, select: Select, protocol: PromptProtocol, media: MediaStore
) -> ClipSamples[Subtask]:
    """Read the folder and draw the selection, in an order drawn by the seed.

    Raises:
        DataError: `data` holds no readable parquet file of a split.
        SpecError: `select` names a task or scene that does not exist.
    """
    select.check(tasks=SUBTASKS, scenes=SPLITS)
    folder = data if (data / "data").is_dir() else data.parent if data.name == "data" else data
    videos, faults = read_videos(folder, language="ja" if select.language == "ja" else "en")
    refs = [
        ref_of(video.video_id, task)
        for video in videos.values()
        if not select.scenes or video.split in select.scenes
        for task in select.tasks or SUBTASKS
    ]
    refs.sort(key=lambda ref: (stable_hash(select.seed, ref.cluster), SUBTASKS.index(ref.task)))
    refs = refs[: select.limit]
    folders = ClipFolders(root=folder, beside=folder / "data")
    clips = [f"{ref.cluster}.mp4" for ref in refs]
    absent = folders.absent(clips)
    rule = rule_of(protocol, frames=select.frames, fps=select.fps)
    return ClipSamples(
        folders=folders,
        build=partial(_sample, folders=folders, clips=Clips(media), rule=rule, protocol=protocol),
        questions={ref.sample_id: (ref, videos[ref.cluster].journey) for ref in refs},
        refs=refs,
        faults=[*faults, *absence(clips, absent, sought=folders.sought)],
        unshowable=sum(clip in absent for clip in clips),
    )


def read_videos(folder: Path, *, language: Language = "en") -> tuple[dict[str, Video], list[DataFault]]:
    """Every row that can be used, by video id, and what is wrong with it and the others.

    Raises:
        DataError: the parquet files of the splits are missing or unreadable.
    """
    files = [
        (split, path) for split in SPLITS for path in sorted((folder / "data").glob(f"{split}-*.parquet"))
    ]
    if not files:
        raise DataError(
            f"{folder} holds no VIR-Bench rows; expected data/test-00000-of-00001.parquet", field="data"
        )
    videos, faults = unique_rows(
        (
            (f"{path.name}[{number}]", split, row)
            for split, path in files
            for number, row in enumerate(read_rows(path))
        ),
        partial(_video, language=language),
        name_of=lambda _, row: str(row[2].get("video_id") or row[0]),
        repeats="a video_id",
        faults_of=_gold_faults,
        id_of=attrgetter("video_id"),
        place_of=lambda _, row: row[0],
    )
    return {video.video_id: video for video in videos}, faults


def _video(named: tuple[str, str, Mapping[str, Any]], *, language: Language) -> Video:
    _, split, row = named
    video_id = row.get("video_id")
    if not isinstance(video_id, str) or not video_id:
        raise DataError("no text", field="video_id")
    return Video(
        video_id=video_id, split=split, journey=journey_from_json(row.get("graph"), language=language)
    )


def _gold_faults(video: Video) -> Iterator[DataFault]:
    name, journey = video.video_id, video.journey
    if not any(journey.gold_nodes().values()):
        yield DataFault(sample_id=f"{name}.node", kind="gold", detail="there is no location to ask for")
    if not journey.gold_links():
        yield DataFault(sample_id=f"{name}.edge", kind="gold", detail="there is no edge to ask for")
    edges = [tuple(edge.values()) for edge in journey.gold_edges()]
    twice = len(edges) - len(set(edges))
    if twice:
        detail = f"{twice} of {len(edges)} edges read like another one: official precision may pass 1"
        yield DataFault(sample_id=f"{name}.edge", kind="ambiguous_gold", detail=detail)
