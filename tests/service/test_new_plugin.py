"""A plug-in is written, tested, run by worker processes; then it is changed, and then gone."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from gnomon.core.errors import GnomonError
from gnomon_service.cli.main import cli
from gnomon_workbench.new_plugin.write import write_plugin


@pytest.mark.timeout(300)
def test_a_tool_is_written_tested_run_in_workers_and_noticed_when_it_changes_or_is_gone(
    tmp_path: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    made = CliRunner().invoke(cli, ["new", "tool", "stride_run", "--out", str(tmp_path)])
    assert made.exit_code == 0, made.output
    folder = tmp_path / "stride_run"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tested = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "10 passed" in tested.stdout, tested.stdout

    spec = {**yaml.safe_load((folder / "job.yaml").read_text()), "select": {"limit": 1, "seed": 1}}
    (folder / "job.json").write_text(json.dumps(spec))
    plugin = ("--plugin", "stride_run.py")
    ran = run_gnomon("run", "job.json", *plugin, "--workers", "1", "--out", "out", "--json", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    rows = [json.loads(line) for line in (folder / "out" / "rows.ndjson").read_text().splitlines()]
    used = {row["arm"]: row["tools_used"] for row in rows}
    assert used == {"raw": {}, "tools": {"stride_run": {"calls": 1, "bad_arguments": 0, "errors": 0}}}
    job = rows[0]["job_id"]

    file = folder / "stride_run.py"
    file.write_text(file.read_text().replace("SHARE_OFF = 0.1", "SHARE_OFF = 0.2"))
    changed = run_gnomon("resume", job, *plugin, cwd=folder)
    assert changed.returncode == 2
    assert "the tool 'stride_run' is not the one that the job was stored with: code '" in changed.stderr
    gone = run_gnomon("report", job, "--format", "md", cwd=folder)
    assert gone.returncode == 0, gone.stderr
    assert "of the file stride\\_run.py is not here" in gone.stdout


def test_a_model_is_written_with_tests_that_pass(tmp_path: Path) -> None:
    made = CliRunner().invoke(cli, ["new", "model", "counted_letters", "--out", str(tmp_path)])
    assert made.exit_code == 0, made.output
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tested = subprocess.run(
        command, cwd=tmp_path / "counted_letters", capture_output=True, text=True, check=False
    )
    assert "3 passed" in tested.stdout, tested.stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("distance", "there is a tool 'distance' already, of Gnomon itself"),
        ("json", "'json' is the name of a Python module that is installed here"),
        ("class", "'class' is no name for a module; allowed: a letter"),
        ("a-b", "'a-b' is no name for a module"),
        ("../up", "'../up' is no name for a module"),
        ("my__tool", "'my__tool' is no name for a module"),
        ("there", "there is there already; nothing was written"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused_and_nothing_is_written(
    tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(GnomonError) as error:
        write_plugin("tool", name, tmp_path)
    assert says in str(error.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
