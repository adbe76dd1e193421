"""Opening: settings, specs and the store, as commands need them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import NotFound, SpecError
from gnomon.spec.spec_file import read_spec
from service.data_folder import keep_private
from service.jobs import Draft, draft_from_cli
from service.settings import Settings, own_database, read_settings

if TYPE_CHECKING:
    from workers.store.store import Store


def settings_of(data_dir: Path | None) -> Settings:
    """The settings of this process; the data folder is its owner's alone from now on."""
    settings = read_settings(os.environ, data_dir=data_dir)
    keep_private(settings.data_dir)
    return settings


def draft_of(spec: Path, settings: Settings) -> Draft:
    """The spec in a file, checked and its data opened.

    Raises:
        SpecError, DataError: it may not run.
    """
    return draft_from_cli(read_spec(spec), settings)


def warn(draft: Draft) -> None:
    """Say what should be known before anything is spent."""
    for warning in draft.warnings:
        click.echo(f"warning: {warning}", err=True)


def existing_store(data_dir: Path | None) -> "Store":
    """The store as it is; none is made.

    Raises:
        NotFound: the data folder holds none.
    """
    from workers.store.store import open_store  # late: most commands need no store

    settings = settings_of(data_dir)
    is_own = settings.database_url == own_database(settings.data_dir)
    if is_own and not (settings.data_dir / "gnomon.db").is_file():
        raise NotFound(f"{settings.data_dir} holds no jobs; name another folder", field="--data-dir")
    return open_store(settings.database_url)


def prepare_out(out: Path | None) -> None:
    """Make the folder for a report before anything is spent on what it will hold.

    Raises:
        SpecError: it cannot be made.
    """
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SpecError(f"{out} cannot be made: {error.strerror}", field="--out") from None


def need_redis(settings: Settings) -> str:
    """The Redis that was named.

    Raises:
        SpecError: none was.
    """
    if settings.redis_url is None:
        raise SpecError("not set; allowed: redis://…, rediss://… or unix://…", field="GNOMON_REDIS_URL")
    return settings.redis_url
