"""Loader: the selected questions of the published file; each is built when it is asked for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from gnomon.benchmark import PromptProtocol, Select
from gnomon.benchmarks.escherverse.item import CATEGORIES, QUESTION_TYPES, SCENES, Item, item_from_json
from gnomon.benchmarks.escherverse.prompt import parts_of
from gnomon.benchmarks.escherverse.shown import as_shown, gold_letters
from gnomon.errors import DataError, NotFound
from gnomon.identity import digest
from gnomon.media import MediaStore
from gnomon.media.clips import Clips, Frames, Look
from gnomon.media.footage import ClipFootage
from gnomon.media.rules import FrameRule, Spread, Uniform
from gnomon.sample import DataFault, Sample, SampleRef

FILE = "Escher-Bench.json"
FOLDERS = ("videos", "clips", ".")  # where clips may lie; they are given out on request, in no set layout
FRAMES = 16
RULES: Mapping[PromptProtocol, FrameRule] = {"official": Spread(FRAMES), "guarded": Uniform(FRAMES)}
LOOKS: Mapping[PromptProtocol, Look] = {"official": Look(quality=75), "guarded": Look(max_side_px=1024)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EscherSamples:
    """The selected samples in their drawn order, and what is wrong with the data."""

    folder: Path
    protocol: PromptProtocol
    clips: Clips
    items: Mapping[str, Item]
    refs: Sequence[SampleRef]
    faults: Sequence[DataFault]

    def get(self, sample_id: str) -> Sample:
        """The whole sample.

        Raises:
            NotFound: it is not among the selected ones.
        """
        ref = next((ref for ref in self.refs if ref.sample_id == sample_id), None)
        if ref is None:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        item = as_shown(self.items[sample_id], self.protocol)
        path = clip_path(self.folder, item.clip)
        frames, broken = self._frames(path, item.clip)
        return Sample(
            ref=ref,
            parts=parts_of(item, self.protocol, frames),
            target={"item": item},
            footage=ClipFootage(clips=self.clips, path=path) if path else None,
            missing=() if frames else (item.clip,),
            broken=broken,
        )

    def _frames(self, path: Path | None, name: str) -> tuple[Frames | None, str]:
        if path is None:
            return None, f"{name} is absent"
        try:
            return self.clips.frames(path, RULES[self.protocol], LOOKS[self.protocol]), ""
        except DataError as error:
            return None, error.message


def clip_path(folder: Path, name: str) -> Path | None:
    """Where a clip lies; None if it is absent or its name leads out of the folder."""
    for inner in FOLDERS:
        path = (folder / inner / PurePosixPath(name)).resolve()
        if path.is_file() and path.is_relative_to(folder.resolve()):
            return path
    return None


def open_samples(*, data: Path, select: Select, protocol: PromptProtocol, media: MediaStore) -> EscherSamples:
    """Read the file and draw the selection, in an order drawn by the seed.

    Raises:
        DataError: `data` holds no readable `Escher-Bench.json`.
        SpecError: `select` names a task or scene there is not.
    """
    tasks, scenes = tuple(CATEGORIES.values()), tuple(SCENES.values())
    select.check(tasks=(*tasks, "unknown"), scenes=(*scenes, "unknown"))
    items, faults = read_items(data / FILE)
    chosen = [
        item
        for item in items
        if (not select.tasks or item.category in select.tasks)
        and (not select.scenes or item.scene in select.scenes)
    ]
    chosen.sort(key=lambda item: digest(select.seed, item.index))
    chosen = chosen[: select.limit]
    absent = sorted({item.clip for item in chosen if clip_path(data, item.clip) is None})
    if absent:
        count = len({item.clip for item in chosen})
        detail = f"{len(absent)} of {count} clips are absent, first {absent[0]}"
        faults = [*faults, DataFault(sample_id="", kind="media", detail=detail)]
    return EscherSamples(
        folder=data,
        protocol=protocol,
        clips=Clips(media),
        items={item.index: item for item in chosen},
        refs=[
            SampleRef(sample_id=item.index, task=item.category, cell=item.category, cluster=item.video)
            for item in chosen
        ],
        faults=faults,
    )


def read_items(file: Path) -> tuple[list[Item], list[DataFault]]:
    """Every question that can be asked, in the order of the file, and what is wrong with it and the others.

    Raises:
        DataError: the file is absent or no JSON list.
    """
    try:
        entries = json.loads(file.read_bytes())
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
    """Labels and golds that a reader should know of; the question is asked all the same."""
    told = []
    if item.category == "unknown":
        told.append(("label", "its category is none of the six"))
    if item.scene == "unknown":
        told.append(("label", "its scene type is neither of the two"))
    if item.kind not in QUESTION_TYPES:
        told.append(("label", f"its question type is {item.question_type or 'missing'!r}"))
    if item.kind in QUESTION_TYPES[:2]:
        if not item.options:
            told.append(("options", "no options could be read from the question"))
        elif gold_letters(item) is None:
            told.append(("gold", f"{item.answer!r:.40} names no option"))
    return [DataFault(sample_id=item.index, kind=kind, detail=detail) for kind, detail in told]
