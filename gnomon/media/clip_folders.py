"""Finds the clips of a published folder: under the usual names of their folder, or beside the table."""

import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnomon.core.sample import LACKS_MEDIA, DataFault
from gnomon.media.clip_frames import find_clip

USUAL = ("videos", "video", "clips")
SUFFIXES = (".mp4", ".mkv", ".webm", ".mov", ".m4v", ".avi")  # first come, first taken


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipFolders:
    """The folders in which clips may lie: `root` holds them, `beside` holds the table of questions."""

    root: Path
    beside: Path

    def find(self, name: str) -> Path | None:
        """The clip of that published name; else one whose name differs in case or in its ending only.

        None if there is none, or the name leads out of the folders.
        """
        folders = self._folders()
        exact = (find_clip(folder, name) for folder in folders)
        return next(filter(None, exact), None) or next(
            filter(None, (_like(folder, name) for folder in folders)), None
        )

    @property
    def sought(self) -> str:
        """Where clips were looked for, in words."""
        return f"{', '.join(f'{name}/' for name in USUAL)} and beside the table"

    def absent(self, clips: Iterable[str]) -> frozenset[str]:
        """Those of these clips that are not there."""
        return frozenset(clip for clip in dict.fromkeys(clips) if self.find(clip) is None)

    def _folders(self) -> list[Path]:
        forms = [form for name in USUAL for form in (name, name.capitalize(), name.upper())]
        return [folder for form in forms if (folder := self.root / form).is_dir()] + [self.root, self.beside]


def absence(clips: Sequence[str], absent: Collection[str], *, sought: str) -> list[DataFault]:
    """A message about absent clips; `clips` names the clip of each sample."""
    if not absent:
        return []
    lacking = sum(clip in absent for clip in clips)
    first = next(clip for clip in clips if clip in absent)
    detail = (
        f"{lacking:,} of {len(clips):,} samples are without their video: {len(absent):,} of "
        f"{len(set(clips)):,} videos are absent, first {first}; looked in {sought}"
    )
    return [DataFault(sample_id="", kind=LACKS_MEDIA, detail=detail)]


def _like(folder: Path, name: str) -> Path | None:
    if "/" in name or "\0" in name:
        return None
    try:
        by_stem = _by_stem(folder, folder.stat().st_mtime_ns)
    except OSError:
        return None
    near = by_stem.get(_stem(name), ())
    clips = (find_clip(folder, entry) for entry in sorted(near, key=lambda entry: (_rank(entry), entry)))
    return next(filter(None, clips), None)


@functools.lru_cache(maxsize=16)
def _by_stem(folder: Path, _changed_ns: int) -> dict[str, tuple[str, ...]]:
    """The names of clips in a folder, by what they are without case and ending."""
    names: dict[str, tuple[str, ...]] = {}
    for path in folder.iterdir():
        if path.suffix.lower() in SUFFIXES:
            names[_stem(path.name)] = (*names.get(_stem(path.name), ()), path.name)
    return names


def _stem(name: str) -> str:
    """A name without its ending, where that is one of clips, and without case.

    >>> _stem("Fly_1.MP4"), _stem("v1.2")
    ('fly_1', 'v1.2')
    """
    stem, dot, ending = name.rpartition(".")
    return (stem if f".{ending.lower()}" in SUFFIXES and dot else name).casefold()


def _rank(name: str) -> int:
    return SUFFIXES.index(Path(name).suffix.lower())
