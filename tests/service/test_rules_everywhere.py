"""The command line and REST refuse the same specs, with the same field and in the same words."""

import json
from collections.abc import Iterable
from itertools import combinations, cycle
from pathlib import Path
from typing import Any

import pytest

from gnomon_service.cli.common import entry_in_words
from gnomon_service.cli.main import main
from tests.rule_table import CASES, breaking
from tests.service.play import OpenApi

COMMANDS: dict[str, tuple[str, ...]] = {
    "plan": (),
    "show": ("--sample", "s", "--arm", "raw"),
    "try": ("--sample", "s", "--arm", "raw"),
    "run": ("--workers", "1"),
}


def refusals(spec: Any, folder: Path, commands: Iterable[str], capfd: pytest.CaptureFixture[str]) -> set[str]:
    """What these commands say of a spec that they refuse, each once."""
    path = folder / "spec.json"
    path.write_text(json.dumps(spec))
    lines = set()
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            main([command, str(path), *COMMANDS[command]])
        assert ended.value.code == 2
        lines.add(capfd.readouterr().err.strip().removeprefix("gnomon: "))
    return lines


# Each rule is met by REST and two of the commands: all check a spec by the same function.
@pytest.mark.parametrize(("rule", "commands"), [*zip(CASES, cycle(combinations(COMMANDS, 2)))])
def test_commands_and_post_refuse_alike(
    rule: str,
    commands: tuple[str, ...],
    tmp_path: Path,
    open_api: OpenApi,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    spec = breaking(rule, tmp_path / "published")
    said = refusals(spec, tmp_path, commands, capfd)
    api = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path / "published"))
    problem = api.post("/v1/jobs", json=spec).json()
    assert problem["status"] == 422
    assert problem["field"] == CASES[rule].field
    if rule == "data_path":  # a request is not told what there is
        assert problem["detail"] == "there is no such path under GNOMON_MEDIA_ROOTS"
        assert said == {f"data: 'nowhere' does not exist (looked for {Path.cwd() / 'nowhere'})"}
    else:
        entry = entry_in_words(problem["field"], spec)  # commands say also which entry of a list it is
        words = f"{problem['field']}: {problem['detail']}" + (f" ({entry})" if entry else "")
        assert said == {" ".join(words.split())}
    assert api.get("/v1/jobs").json()["items"] == []
