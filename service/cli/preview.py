"""Preview: one sample under one arm, in a process of its own (agents are not loaded here)."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from service.cli.opening import draft_of, settings_of


def preview(
    verb: Literal["show", "try"], *, spec: Path, sample: str, arm: str, model: str | None, as_json: bool
) -> int:
    """Check the spec as `run` would, then let `python -m workers.preview` do the rest; its exit code.

    Raises:
        SpecError: the spec may not run, or has no such arm or model.
    """
    settings = settings_of(None)
    draft = draft_of(spec, settings)
    draft.spec.arm(arm)
    if model is not None:
        draft.spec.model(model)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(draft.spec.model_dump(mode="json"), file)
        file.flush()
        command = [sys.executable, "-m", "workers.preview", verb, "--spec", file.name]
        command += ["--sample", sample, "--arm", arm]
        command += ["--model", model] if model else []
        command += ["--json"] if as_json else []
        return subprocess.run(command, check=False).returncode  # noqa: S603 (our own module, arguments as a list)
