"""Reads the selected questions of the published file; each sample is built when it is asked for."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import DataError
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
from gnomon_tools.core.inputs import held
from gnomon_tools.core.regular_file import read_regular

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
    try:
        entries = json.loads(read_regular(file))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} cannot be read: {error}", field="data") from None
    if not isinstance(entries, list):
        raise DataError(f"{file} holds no list of questions", field="data")
    items: dict[str, Item] = {}
    faults: list[DataFault] = []
    for number, entry in enumerate(entries):
        name = f"{FILE}[{number}]"
        try:
            item = item_from_json(entry)
        except DataError as error:
            faults.append(DataFault(sample_id=name, kind="malformed", detail=str(error)))
            continue
        if item.index in items:
            detail = f"{name} repeats an index; the first one counts"
            faults.append(DataFault(sample_id=item.index, kind="duplicate", detail=detail))
            continue
        if not item.index:  # the official code numbers such an item by its place in the file
            item = replace(item, index=str(number))
        items.setdefault(item.index, item)
        faults += _label_faults(item)
    return list(items.values()), faults


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
