"""Reads the selected questions of the published file; each sample is built when it is asked for."""

from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_folders import ClipFolders, absence
from gnomon.media.clip_frames import show_clip
from gnomon.media.clip_samples import ClipSamples
from gnomon.media.clips import Clips, Look
from gnomon.media.frame_rules import FrameRule, Spread, Uniform, as_asked
from gnomon_published.benchmarks.escherverse.item import (
    CATEGORIES,
    QUESTION_TYPES,
    SCENES,
    Item,
    item_from_json,
)
from gnomon_published.benchmarks.escherverse.prompt import as_shown, gold_letters, parts_of
from gnomon_published.unique_rows import json_rows, unique_rows
from gnomon_tools.core.inputs import held

FILE = "Escher-Bench.json"
FRAMES = 16
RELEASED_LOOK, GUARDED_LOOK = Look(quality=75), Look(max_side_px=1024)


def ref_of(item: Item) -> SampleRef:
    """A question's reference: its cell is its category, its cluster is its video."""
    return SampleRef(sample_id=item.index, task=item.category, cell=item.category, cluster=item.video)


def _sample(
    published: Item, *, folders: ClipFolders, clips: Clips, rule: FrameRule, protocol: PromptProtocol
) -> Sample:
    item = as_shown(published, protocol)
    look = GUARDED_LOOK if protocol == "guarded" else RELEASED_LOOK
    clip = show_clip(clips, folders.find(item.clip), item.clip, rule, look)
    return Sample(
        ref=ref_of(item),
        parts=parts_of(item, protocol, clip.frames),
        target={"item": item},
        inputs=held(clip.footage),
        missing=clip.missing,
        broken=clip.fault,
    )


def open_samples(
    *, data: Path, select: Select, protocol: PromptProtocol, media: MediaStore
) -> ClipSamples[Item]:
    """Read the file and draw the selection, in an order drawn by the seed.

    Raises:
        DataError: `data` holds no readable `Escher-Bench.json`.
        SpecError: `select` names a task or scene that does not exist.
    """
    tasks, scenes = tuple(CATEGORIES.values()), tuple(SCENES.values())
    select.check(tasks=(*tasks, "unknown"), scenes=(*scenes, "unknown"))
    items, faults = read_items(data / FILE)
    selected = (
        item
        for item in items
        if (not select.tasks or item.category in select.tasks)
        and (not select.scenes or item.scene in select.scenes)
    )
    chosen = select.drawn(selected, lambda item: item.index)
    folders = ClipFolders(root=data, beside=data)  # clips are given out on request, in no set layout
    clips = [item.clip for item in chosen]
    absent = folders.absent(clips)
    rule = as_asked(
        Uniform if protocol == "guarded" else Spread, FRAMES, frames=select.frames, fps=select.fps
    )
    return ClipSamples(
        folders=folders,
        build=partial(_sample, folders=folders, clips=Clips(media), rule=rule, protocol=protocol),
        questions={item.index: item for item in chosen},
        refs=[ref_of(item) for item in chosen],
        faults=[*faults, *absence(clips, absent, sought=folders.sought)],
        unshowable=sum(clip in absent for clip in clips),
    )


def read_items(file: Path) -> tuple[list[Item], list[DataFault]]:
    """Every question that can be asked, in the order of the file, and what is wrong with it and the others.

    Raises:
        DataError: the file is absent or not a JSON list.
    """
    return unique_rows(
        enumerate(json_rows(file)),
        _numbered,
        name_of=lambda number, _: f"{FILE}[{number}]",
        repeats="an index",
        faults_of=_label_faults,
        id_of=attrgetter("index"),
        place_of=lambda number, _: f"{FILE}[{number}]",
    )


def _numbered(entry: tuple[int, object]) -> Item:
    """An item; one without an index has its place in the file, as in the official code."""
    item = item_from_json(entry[1])
    return item if item.index else replace(item, index=str(entry[0]))


def _label_faults(item: Item) -> list[DataFault]:
    """Faults of labels and golds that a reader should know; the question is still asked."""
    faults = []
    if item.category == "unknown":
        faults.append(("label", "its category is none of the six"))
    if item.scene == "unknown":
        faults.append(("label", "its scene type is neither of the two"))
    if item.kind not in QUESTION_TYPES:
        faults.append(("label", f"its question type is {item.question_type or 'missing'!r}"))
    if item.kind in QUESTION_TYPES[:2]:
        if not item.options:
            faults.append(("options", "no options could be read from the question"))
        elif gold_letters(item) is None:
            faults.append(("gold", f"{item.answer!r:.40} names no option"))
    return [DataFault(sample_id=item.index, kind=kind, detail=detail) for kind, detail in faults]
