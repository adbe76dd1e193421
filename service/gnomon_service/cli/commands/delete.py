"""Delete jobs with their media."""

import json
from pathlib import Path

import click

from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.options import data_dir_option, json_option


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_job)
@click.option("--older-than", type=click.FloatRange(min=0), metavar="DAYS", help="All that ended longer ago.")
@click.option("--unnamed-media", is_flag=True, help="Pictures and clips that no trial names.")
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@data_dir_option
@json_option
def delete(
    jobs: tuple[str, ...],
    older_than: float | None,
    unnamed_media: bool,
    dry_run: bool,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Delete JOBs with their trials, reviews, and the media that they alone name.

    Their seals stay, and their counts: `gnomon jobs --deleted` lists them.
    """
    from dataclasses import asdict

    from gnomon.core.errors import SpecError
    from gnomon_service import deletion
    from gnomon_service.cli.common import existing_store, settings_of
    from gnomon_service.cli.ids import find_job

    if not (jobs or older_than is not None or unnamed_media):
        raise SpecError("needed: a job, --older-than DAYS or --unnamed-media", field="JOB")
    settings = settings_of(data_dir)
    with existing_store(data_dir) as store:
        ids = dict.fromkeys(find_job(store, job) for job in jobs)
        if older_than is not None:
            ids |= dict.fromkeys(store.ended_before(older_than * deletion.DAY_S))
        for job_id in ids:  # none is deleted where one cannot be
            store.deletion(job_id)
        if dry_run:
            views = [deletion.preview(settings, store, job_id) for job_id in ids]
        else:
            store.finish_deletions()
            views = [deletion.delete(settings, store, job_id, by="gnomon delete") for job_id in ids]
        media = deletion.delete_unnamed_media(settings, store, is_dry=dry_run) if unnamed_media else None
    if as_json:
        click.echo(json.dumps({"jobs": views, "unnamed_media": asdict(media) if media else None}, indent=2))
        return
    verb = "would be deleted" if dry_run else "deleted"
    if ids or media is None:
        click.echo(f"{verb}: {deletion.in_words(views)}; seals and counts stay")
    for view in views:
        if view["named_by"]:
            click.echo(f"{view['job_id']} is named by {', '.join(view['named_by'])}", err=True)
    if media is not None:
        click.echo(f"{verb}: {deletion.media_words(media.files, media.bytes)} that nothing named")
    if any(view["media"]["is_put_off"] for view in views) or (media and media.is_put_off):
        click.echo("media stay while a job runs: `gnomon delete --unnamed-media` afterwards", err=True)
