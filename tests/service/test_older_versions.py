"""What the first version of Gnomon wrote is read today: its database, a spec file, exported rows, a report.

`tests/golden/first_version` was written by that version (a completed job and a cancelled one) and never
changes. `later_report.json.gz` is the completed job's report by a later version, with all keys of today.
"""

import gzip
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gnomon.report.html import render_html
from gnomon_service.cli.main import main

GOLDEN = Path(__file__).parents[1] / "golden" / "first_version"
COMPLETED, CANCELLED = "j_5fe1168dc0d7554a3884", "j_31cefb0cea413c64ec50"
# Since then the tools that fitted the questions are named, and metrics are averaged over the questions to
# which they apply.
SAID_BETTER = ("arm_texts", "offered", "measures")
# Errors of unequal clusters are CR2's, intervals of arms are Wilson's, what agrees counts its samples: the
# numbers of chance, and the sentences that name them, are others; scores, differences and verdicts are not.
OF_CHANCE = ("se", "ci95", "ci90", "aggregate_ci95", "interval_method", "p", "p_adjusted", "mde")
OF_CHANCE += ("check_p", "test", "reasons", "verdict_text", "answers", "summary")


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    return int(ended.value.code or 0)


def golden(name: str) -> Any:
    return json.loads(gzip.decompress((GOLDEN / name).read_bytes()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the first version, its tables moved forward."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    (tmp_path / "gnomon.db").write_bytes(gzip.decompress((GOLDEN / "gnomon.db.gz").read_bytes()))
    assert gnomon("database", "upgrade") == 0
    return tmp_path


def differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Where what was reported then is reported otherwise now; keys that are new are none."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in then:
            if key not in SAID_BETTER + OF_CHANCE:
                yield from differences(then[key], now.get(key, "gone"), f"{path}.{key}")
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for at, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from differences(old, new, f"{path}.{at}")
    elif then != now and not (isinstance(then, float) and then == pytest.approx(now)):
        yield f"{path}: {then!r} is now {now!r}"


def test_a_stored_job_has_the_report_it_had(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert gnomon("report", COMPLETED, "--format", "json") == 0
    now = json.loads(capsys.readouterr().out)
    # A question with one right repeat of two is no longer right, and a gain that is noise has no price.
    is_meant = re.compile(r"\.(frontier\.gains|flips|contrasts\.\d+\.(rescued|broken|both_right|both_wrong))")
    (deviations,) = (each for each in differences(golden("report.json.gz"), now) if not is_meant.match(each))
    assert deviations.startswith(".plan.deviations: [] is now ['the tools of "), (
        "its tools have changed since"
    )


def test_stored_rows_are_exported_as_they_were(folder: Path) -> None:
    assert gnomon("export", COMPLETED, "--out", str(folder / "out")) == 0
    (written,) = (folder / "out").glob("*.ndjson")
    now = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    then = [
        json.loads(line)
        for line in gzip.decompress((GOLDEN / "rows.ndjson.gz").read_bytes()).decode().splitlines()
    ]
    assert len(then) == len(now) == 96
    by_trial = {row["trial_id"]: row for row in now}
    assert [row | by_trial[row["trial_id"]] for row in then] == [by_trial[row["trial_id"]] for row in then]
    assert all(row[key] == by_trial[row["trial_id"]][key] for row in then for key in row)


def test_a_job_that_was_cancelled_then_is_finished_now(
    folder: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    done = run_gnomon("resume", CANCELLED, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["denominators"]["trials"]["finished"] == 96
    assert report["denominators"]["trials"]["infra_missing"] == 0


def test_a_spec_file_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert gnomon("plan", str(GOLDEN / "spec.yaml"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["trials"] == 96


def test_exported_rows_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = tmp_path / "rows.ndjson"
    rows.write_bytes(gzip.decompress((GOLDEN / "rows.ndjson.gz").read_bytes()))
    assert gnomon("import", str(rows), "--primary", "raw", "tools", "--data-dir", str(tmp_path)) == 0
    job_id = capsys.readouterr().out.split()[1].rstrip(":")
    assert gnomon("report", job_id, "--format", "json", "--data-dir", str(tmp_path)) == 0
    now = json.loads(capsys.readouterr().out)
    then = {(arm["model"], arm["arm"]): arm["mean"] for arm in golden("report.json.gz")["arms"]}
    assert {(arm["model"], arm["arm"]): arm["mean"] for arm in now["arms"]} == pytest.approx(then)


def test_a_report_kept_as_a_file_is_drawn(tmp_path: Path) -> None:
    page = render_html(golden("later_report.json.gz"))
    assert "written by the first version" in page
    assert page.rstrip().endswith("</html>")
