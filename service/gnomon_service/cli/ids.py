"""Finds jobs, trials and samples by an id or a beginning of one, and the newest job by the name `last`."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.core.errors import NotFound, SpecError

if TYPE_CHECKING:
    from gnomon_workers.store.store import Store

LISTED = 8
LAST = re.compile(r"last(?:~(\d{1,3}))?")  # the newest job, or so many before it, as in git


def find_job(store: "Store", text: str) -> str:
    """The id of the job that `text` names or begins; `last` is the newest job, `last~1` the one before it.

    Raises:
        NotFound: no job's id begins so, or there are not so many jobs.
        SpecError: several do; the message lists them.
    """
    if back := LAST.fullmatch(text):
        number = int(back[1] or 0)
        newest = store.jobs(limit=number + 1).items
        if number < len(newest):
            return newest[number].id
        raise NotFound(f"no job {text!r}: {len(newest)} are stored", field="JOB")
    return the_one(text, store.job_ids(text, limit=LISTED + 1) if text else (), noun="job")


def find_trial(store: "Store", text: str) -> str:
    """The id of the trial that `text` names or begins.

    Raises:
        NotFound: no trial's id begins so.
        SpecError: several do; the message lists them.
    """
    return the_one(text, store.trial_ids(text, limit=LISTED + 1) if text else (), noun="trial")


def find_sample(store: "Store", job_id: str, text: str) -> str:
    """The id of the job's sample that `text` names or begins.

    Raises:
        NotFound: no sample's id begins so.
        SpecError: several do; the message lists them.
    """
    ids = [ref.sample_id for ref in store.refs(job_id)]
    return the_one(text, [name for name in ids if name.startswith(text)], noun="sample")


def the_one(text: str, ids: Sequence[str], *, noun: str) -> str:
    """The id that is `text`, else the only one of `ids`, which all begin with it.

    >>> the_one("j_4", ["j_41", "j_4"], noun="job"), the_one("j_4", ["j_41"], noun="job")
    ('j_4', 'j_41')

    Raises:
        NotFound: there is none.
        SpecError: there are several; the message lists them.
    """
    if text in ids:
        return text
    if not ids:
        raise NotFound(f"no {noun} {text!r}", field=noun.upper())
    if len(ids) > 1:
        more = ", …" if len(ids) > LISTED else ""
        listed = ", ".join(ids[:LISTED])
        raise SpecError(f"{text!r} begins the ids of several: {listed}{more}", field=noun.upper())
    return ids[0]
