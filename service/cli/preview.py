"""Preview: one sample under one arm, as a model would get it or as it runs."""

import importlib
from pathlib import Path
from typing import Any, Literal

from service.cli.opening import draft_of, settings_of, warn


def preview(
    verb: Literal["show", "try"], *, spec: Path, sample: str, arm: str, model: str | None, as_json: bool
) -> int:
    """Check the spec as `run` would, and show or try one trial of it; the exit code.

    Raises:
        SpecError: the spec may not run, or has no such arm or model.
        NotFound: it selects no such sample.
    """
    draft = draft_of(spec, settings_of(None))
    warn(draft)
    code: int = workers_preview().run(
        verb, draft.job, sample_id=sample, arm=arm, model=model, as_json=as_json
    )
    return code


def workers_preview() -> Any:
    """`workers.dry_run`, by name and when it is needed: it loads agents, which the API must not."""
    return importlib.import_module("workers.dry_run")
