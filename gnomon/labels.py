"""Labels: the short names that a spec gives, which lists and terminals show as they are."""

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError

if TYPE_CHECKING:
    from gnomon.spec.job_spec import JobSpec


def check_labels(spec: "JobSpec") -> None:
    """Refuse names that would drive a terminal.

    Raises:
        SpecError: one of them holds a control character.
    """
    for field, text in _labels(spec):
        if any(unicodedata.category(char) == "Cc" for char in text):
            raise SpecError("holds a control character; allowed: all others", field=field)


def _labels(spec: "JobSpec") -> Iterator[tuple[str, str]]:
    yield from (("name", spec.name), ("benchmark", spec.benchmark))
    for at, model in enumerate(spec.models):
        yield from ((f"models.{at}.id", model.id), (f"models.{at}.name", model.name))
    yield from ((f"arms.{at}.name", arm.name) for at, arm in enumerate(spec.arms))
