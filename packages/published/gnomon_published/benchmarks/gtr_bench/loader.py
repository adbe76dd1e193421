"""Reads the selected samples of a published folder; each, with its pictures, is built when asked for."""

import hashlib
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import networkx as nx
from PIL import Image

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.clock import clock
from gnomon.core.errors import DataError, NotFound
from gnomon.core.sample import LACKS_MEDIA, DataFault, ImageRef, Sample, SampleRef, Shown, Transform
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clips import Clips, Look, Mark
from gnomon.media.clips import jpeg as encoded
from gnomon.media.frame_rules import AtIndices
from gnomon_published.benchmarks.gtr_bench.case import SCENES, TASKS, Case, Clip
from gnomon_published.benchmarks.gtr_bench.layout import Layout, find_layout, read_cases
from gnomon_published.benchmarks.gtr_bench.map_reading.reading_store import ReadingStore, mapped_scene
from gnomon_published.benchmarks.gtr_bench.prompt import TIMELESS, Frames, parts_of
from gnomon_published.benchmarks.gtr_bench.scenes import indoor_scene, map_image_of, outdoor_scene, own_scene
from gnomon_published.benchmarks.gtr_bench.transforms import obstacle_of_published_map
from gnomon_tools.core.inputs import held
from gnomon_tools.core.regular_file import open_regular, read_regular
from gnomon_tools.scene.scene import Camera, Scene

MAX_SIDE_PX = 1800
QUALITY = 95


def picked(count: int) -> tuple[int, ...]:
    """Which of a clip's frames are shown: first, middle and last of more than three, else all.

    >>> picked(2), picked(6)
    ((0, 1), (0, 3, 5))
    """
    return tuple(range(count)) if count <= 3 else (0, count // 2, count - 1)


def frame_path(folder: Path, frame_id: int) -> Path:
    """A frame of a clip that was published as a folder of numbered pictures."""
    return folder / f"{frame_id:06d}.jpg"


def has_frames(path: Path | None, clip: Clip) -> bool:
    """Whether every frame that would be shown is there; a video file is taken to have them."""
    if path is None or is_video(path):
        return path is not None
    return all(frame_path(path, clip.frame_ids[index]).is_file() for index in picked(len(clip.frame_ids)))


def is_video(path: Path) -> bool:
    """Whether a clip was published as a video file, and not as a folder of pictures."""
    return path.suffix in (".avi", ".mp4") and path.is_file()


def clip_pictures(
    path: Path,
    clip: Clip,
    *,
    clips: Clips,
    protocol: PromptProtocol,
    timeless: bool = False,
    camera: Camera | None = None,
) -> list[ImageRef]:
    """JPEGs of the clip's frames, a red box about the target, the longest side at most MAX_SIDE_PX.

    Under `official` a black panel in the corner repeats id, time (unless timeless) and box. A frame id is the
    frame's number in the video, from 0, as the released runner takes it. Boxes are in pixels of the `camera`,
    where a folder brings its own: a video of another size has them in proportion.

    Raises:
        DataError: a video file cannot be read.
        OSError: a picture cannot be read.
    """
    marks = tuple(_marks(clip, protocol, timeless=timeless))
    look = Look(max_side_px=MAX_SIDE_PX, quality=QUALITY, marks=marks)
    if is_video(path):
        if camera is not None and camera.image_size is not None:
            video = clips.video(path)
            across, down = video.width / camera.image_size[0], video.height / camera.image_size[1]
            look = replace(look, marks=tuple(_scaled(mark, across, down) for mark in marks))
        return list(clips.frames(path, AtIndices(tuple(mark.index for mark in marks)), look).images)
    pictures = []
    for mark in marks:
        with open_regular(frame_path(path, mark.index)) as file, Image.open(file) as source:
            pictures.append(clips.media.put(encoded(source, look, mark.index)))
    return pictures


def _scaled(mark: Mark, across: float, down: float) -> Mark:
    if mark.box is None:
        return mark
    x, y, width, height = mark.box
    return replace(mark, box=(x * across, y * down, width * across, height * down))


def _marks(clip: Clip, protocol: PromptProtocol, *, timeless: bool) -> Iterator[Mark]:
    times_s = clip.box_times_s()
    for index in picked(len(clip.frame_ids)):
        box = clip.bboxes[index]
        lines = [f"ID: {clip.object_id}", *([] if timeless else [f"Time: {clock(times_s[index])}"])]
        lines.append("Box: " + ", ".join(f"{value:.1f}" for value in box))
        yield Mark(index=clip.frame_ids[index], box=box, label=tuple(lines) if protocol == "official" else ())


def jpeg(image: Image.Image) -> bytes:
    """A picture as the released runner sends it."""
    image = image.convert("RGB")
    image.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class GtrSamples:
    """The selected samples in their drawn order, and what is wrong with the data."""

    layout: Layout
    protocol: PromptProtocol
    media: MediaStore
    cases: Mapping[str, Case]
    refs: Sequence[SampleRef]
    faults: Sequence[DataFault]
    # Many cases share a picture, and all arms do: what was made of it is kept, by its hash.
    _maps: dict[bytes, ImageRef] = field(default_factory=dict, init=False, repr=False)
    _clips: Clips = field(init=False, repr=False)
    _mapped: dict[str, Scene] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_clips", Clips(self.media))

    def get(self, sample_id: str) -> Sample:
        """The whole sample.

        Raises:
            NotFound: the sample is not among the selected ones.
            DataError: one of its pictures is broken.
        """
        ref = next((ref for ref in self.refs if ref.sample_id == sample_id), None)
        if ref is None:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        try:
            return self._build(ref, self.cases[sample_id])
        except (OSError, Image.DecompressionBombError) as error:
            raise DataError(f"a picture of {sample_id} cannot be read: {error}") from error

    def cannot(self, transform: Transform, show: Collection[Shown]) -> str:
        """Why a transform cannot be made: published maps are pictures, generated ones have a scene."""
        if all(self.layout.scene_of(case) for case in self.cases.values()):
            return ""
        return obstacle_of_published_map(transform, show)

    def _build(self, ref: SampleRef, case: Case) -> Sample:
        map_image = self._map(case)
        frames = self._frames(case)
        missing = [] if map_image else [case.map_image_path or "map"]
        missing += [clip.video_path or clip.camera_id for clip in case.clips if clip not in frames]
        return Sample(
            ref=ref,
            parts=parts_of(case, self.protocol, map_image, frames),
            target={"case": case, "protocol": self.protocol, "draws_map": bool(self.layout.scene_of(case))},
            inputs=held(self._scene(case, map_image)),
            missing=tuple(missing),
            join="texts_first" if self.protocol == "official" else "in_order",
        )

    def _map(self, case: Case) -> ImageRef | None:
        path = self.layout.map_of(case)
        if path is None:
            return None
        data = read_regular(path)
        key = hashlib.sha256(data).digest()
        if key not in self._maps:
            self._maps[key] = self.media.put(data if self.protocol == "guarded" else as_jpeg(data))
        return self._maps[key]

    def _frames(self, case: Case) -> Frames:
        frames = {}
        file = self.layout.scene_of(case)
        cameras = own_scene(file).cameras if file is not None else {}
        for clip in case.clips:
            folder = self.layout.path(clip.video_path)
            if folder is not None and has_frames(folder, clip):
                timeless = case.task.short == TIMELESS
                with suppress(DataError):  # a video that cannot be read is skipped, like one that is absent
                    frames[clip] = clip_pictures(
                        folder,
                        clip,
                        clips=self._clips,
                        protocol=self.protocol,
                        timeless=timeless,
                        camera=cameras.get(clip.camera_id),
                    )
        return frames

    def _scene(self, case: Case, map_image: ImageRef | None) -> Scene:
        file = self.layout.scene_of(case)
        if file is not None:
            return own_scene(file)
        outdoor = case.scene == "outdoor"
        scene = outdoor_scene(case) if outdoor else indoor_scene(self.layout.homographies)
        path = self.layout.map_of(case)
        if map_image is None or path is None:
            return scene
        key = case.case_id if outdoor else map_image.sha256  # outdoors, ids differ from case to case
        if key not in self._mapped and outdoor:
            readings = ReadingStore(self.media.folder / "map-readings")
            reading = readings.read(read_regular(path), scene.cameras)
            self._mapped[key] = mapped_scene(scene, reading, map_image)
        elif key not in self._mapped:
            self._mapped[key] = replace(scene, map_image=map_image_of(map_image, path))
        return self._mapped[key]


def as_jpeg(data: bytes) -> bytes:
    """A map as the released runner sends it."""
    with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
        return jpeg(image)


def open_samples(*, data: Path, select: Select, protocol: PromptProtocol, media: MediaStore) -> GtrSamples:
    """Read the folder and draw the selection: in an order drawn by the seed, so that a smaller limit is a
    prefix of a larger one.

    Raises:
        DataError: `data` does not have the published layout, or the homographies are broken.
        SpecError: `select` names a task or scene that does not exist.
    """
    select.check(tasks=tuple(TASKS), scenes=SCENES)
    layout = find_layout(data)
    cases, faults = read_cases(layout)
    clusters = clusters_of(cases)
    selected = (
        case
        for case in cases
        if (not select.tasks or case.task_id in select.tasks)
        and (not select.scenes or case.scene in select.scenes)
    )
    chosen = select.drawn(selected, lambda case: case.case_id)
    if any(case.scene == "indoor" for case in chosen):
        indoor_scene(layout.homographies)  # refuses a broken file now and not in every trial
    refs = [
        SampleRef(sample_id=case.case_id, task=case.task_id, cell=case.cell, cluster=clusters[case.case_id])
        for case in chosen
    ]
    return GtrSamples(
        layout=layout,
        protocol=protocol,
        media=media,
        cases={case.case_id: case for case in chosen},
        refs=refs,
        faults=[*faults, *_media_faults(layout, chosen)],
    )


def clusters_of(cases: Sequence[Case]) -> dict[str, str]:
    """By case id, the connected component of targets it belongs to: `scene.smallest object id`.

    A case that shows two targets connects them. Questions about connected targets are not independent.
    """
    graph: nx.Graph[tuple[str, str]] = nx.Graph()
    for case in cases:
        nx.add_star(graph, [(case.scene, clip.object_id) for clip in case.clips])
    names = {}
    for component in nx.connected_components(graph):
        scene, smallest = min(component, key=lambda node: (node[0], len(node[1]), node[1]))
        names.update(dict.fromkeys(component, f"{scene}.{smallest}"))
    return {case.case_id: names[case.scene, case.clips[0].object_id] for case in cases}


def _media_faults(layout: Layout, cases: Sequence[Case]) -> list[DataFault]:
    """One fault for each case without its map, and one line for all clips without frames."""
    faults = [
        DataFault(sample_id=case.case_id, kind="map", detail=f"{case.map_image_path or 'no map'} is absent")
        for case in cases
        if layout.map_of(case) is None
    ]
    absent = [
        sum(not has_frames(layout.path(clip.video_path), clip) for clip in case.clips) for case in cases
    ]
    if any(absent):
        detail = (
            f"frames of {sum(absent):,} of {sum(len(case.clips) for case in cases):,} clips are absent: "
            f"{sum(map(bool, absent)):,} of {len(cases):,} samples are without their video, and the prompts "
            "go without its pictures"
        )
        faults.append(DataFault(sample_id="", kind=LACKS_MEDIA, detail=detail))
    return faults
