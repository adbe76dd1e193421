"""Writes the database and the media of a service into one file, and restores them.

A backup is a zip: `manifest.json`, `gnomon.db` (a database of SQLite, whatever kind it was copied from) and
`media/`. It is there whole or not at all, and a restore changes all of the database or nothing.
"""

import hashlib
import json
import re
import shutil
import time
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from gnomon.core.errors import DataError, SpecError
from gnomon.media import MediaStore
from gnomon.report.text_formats import count
from gnomon.whole_file import make_private_folder, room_for, whole_file
from gnomon_service.deletion import media_files, media_words
from gnomon_service.settings import Settings
from gnomon_workers.store.backup import Rows, copy_in, copy_out
from gnomon_workers.store.migration import way_of
from gnomon_workers.store.records import iso

FORM = 1
DATABASE, MANIFEST = "gnomon.db", "manifest.json"
QUICKLY = 1  # zlib's level: half of a database are traces, which are deflated already
PART_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a backup holds: the tables' revision, rows by table, and media with their size."""

    revision: str
    rows: Rows
    media: int
    media_bytes: int

    @property
    def in_words(self) -> str:
        """What it holds, in a line."""
        rows = self.rows
        counted = f"{count(rows['jobs'], 'job')}, {count(rows['results'], 'result')}"
        return f"{counted}, {media_words(self.media, self.media_bytes)}"


def write_backup(settings: Settings, file: Path, *, has_media: bool = True) -> Backup:
    """Write database and media to `file`, as the database was when it was begun.

    Raises:
        SpecError: there is nothing in the database, or no folder for the file.
        NoRoom: the disk is full.
    """
    if not file.parent.is_dir():
        raise SpecError(f"there is no folder {file.parent}", field="FILE")
    with (
        room_for(file),
        TemporaryDirectory(prefix=".part-", dir=file.parent) as folder,
        whole_file(file) as written,
        ZipFile(written, "w", ZIP_DEFLATED, compresslevel=QUICKLY) as backup,
    ):
        copy = Path(folder) / DATABASE
        revision, rows = copy_out(settings.database_url, copy)
        backup.write(copy, DATABASE)
        media = size = 0
        # Media are kept before the rows that name them: all that the copy names are there by now.
        for path in media_files(settings).values() if has_media else ():
            backup.write(path, f"media/{path.parent.name}/{path.name}", ZIP_STORED)
            media, size = media + 1, size + path.stat().st_size
        made = Backup(revision=revision, rows=rows, media=media, media_bytes=size)
        facts = {
            "form": FORM,
            "made_at": iso(time.time()),
            "revision": revision,
            "rows": rows,
            "media": media,
        }
        backup.writestr(MANIFEST, json.dumps(facts, indent=1))
    return made


def back_up_before(settings: Settings, revision: str) -> Path | None:
    """Write a backup of the database into the data folder, where a move to that revision would change it.

    Raises:
        SpecError: the revision does not exist, or the database is none of Gnomon's.
    """
    before, after = way_of(settings.database_url, revision)
    if before in (None, after):
        return None
    folder = settings.data_dir / "backups"
    make_private_folder(folder)
    file = folder / f"{before}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.zip"
    write_backup(settings, file, has_media=False)  # an upgrade changes none
    return file


def restore_backup(settings: Settings, file: Path, *, replaces: bool) -> Backup:
    """Put a backup in the place of all jobs. Media are added to those that there are.

    Raises:
        Conflict: there are jobs, and it `replaces` none.
        DataError: the file is no backup, or a damaged one; nothing is changed then but that media were added.
    """
    try:
        with (
            ZipFile(file) as backup,
            room_for(settings.data_dir),
            TemporaryDirectory(prefix=".part-", dir=file.parent) as folder,
        ):
            facts = json.loads(backup.read(MANIFEST))
            if facts["form"] != FORM:
                raise DataError(f"{file} has the form {facts['form']!r}; allowed: {FORM!r}", field="FILE")
            copy = Path(folder) / DATABASE
            with backup.open(DATABASE) as source, copy.open("xb") as target:
                shutil.copyfileobj(source, target, PART_BYTES)
            media, media_bytes = _add_media(backup, MediaStore(settings.data_dir / "media"))
            if media != facts["media"]:
                raise DataError(f"{file} holds {media:,} of its {facts['media']:,} media", field="FILE")
            copy_in(copy, settings.database_url, rows=facts["rows"], replaces=replaces)
    except (BadZipFile, zlib.error, EOFError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{file} is no whole backup: {error}", field="FILE") from None
    return Backup(revision=facts["revision"], rows=facts["rows"], media=media, media_bytes=media_bytes)


def _add_media(backup: ZipFile, media: MediaStore) -> tuple[int, int]:
    """Keep the media of a backup; how many they are, and their bytes."""
    files = size = 0
    for name in backup.namelist():
        member = re.fullmatch("media/[0-9a-f]{2}/([0-9a-f]{64})", name)
        if member is None:
            continue
        data = backup.read(name)
        if hashlib.sha256(data).hexdigest() != member[1]:
            raise DataError(f"{name} is damaged in the backup: take another one", field="FILE")
        media.keep(data)
        files, size = files + 1, size + len(data)
    return files, size
