"""The commands that look: samples, traces, benchmarks, models, the page; and what the shell completes."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_service.api.serializers import trial_view
from gnomon_service.cli.main import COMMANDS, COMPLETE_VARIABLE, main
from gnomon_service.running_service import FILE, remembered, running_url
from gnomon_workbench.trace_text import print_side_by_side, print_trace
from gnomon_workers.open_job import open_spec
from gnomon_workers.store.store import Store
from tests.service.test_cli_afterwards import SPEC, row_of

CALL = {"id": "c1", "type": "function", "function": {"name": "distance", "arguments": '{"a":1}'}}
REPLY = {
    "kind": "reply", "text": "I measure.", "reasoning": "hm", "tool_calls": [CALL],
    "finish_reason": "tool_calls",
    "prompt_tokens": 1200, "completion_tokens": 30, "usd": 0.0123, "cached": False, "wall_s": 1.5, "tries": 2,
    "request_changes": ["seed: dropped"], "flags": [],
}  # fmt: skip
TOOL = {
    "kind": "tool", "name": "distance", "arguments": '{"a":1}', "observation": '{"path_m": 4.5}',
    "error": None,     "wall_s": 0.25, "injected": None, "pictures": [],
}  # fmt: skip
END = {**REPLY, "text": "It is \x1b[2JB.", "reasoning": "", "tool_calls": [], "request_changes": []}


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    return int(end.value.code or 0)


@pytest.fixture
def store(tmp_path: Path, empty_sqlite: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    store = Store(f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'gnomon.db')}")
    yield store
    store.close()


@pytest.fixture
def job(store: Store, tmp_path: Path) -> str:
    """A finished job of 14 samples: raw is right on the first two, tools on all but the first."""
    spec = JobSpec.model_validate(SPEC)
    refs = open_spec(spec, MediaStore(tmp_path / "media")).samples.refs
    lines = "\n".join(f"line {number} of the question" for number in range(40))
    prompt = [{"role": "user", "content": [{"type": "text", "text": lines}]}]
    ended = []
    for at, ref in enumerate(refs):
        for arm, score in (("raw", float(at < 2)), ("tools", float(at > 0))):
            steps = [REPLY, TOOL, END] if arm == "tools" else [END]
            trace = {"prompt": prompt, "steps": steps, "response": "B"}
            changes = {"answer": "B\x1b]0;x\x07", "model_calls": len(steps) // 2 + 1}
            if at == 13 and arm == "raw":
                changes |= {"outcome": Outcome.MODEL_FAILED, "stop_reason": "max_turns", "answer": None}
            ended.append((row_of(ref, arm, score, **changes), trace))
    return store.insert_finished_job(spec, refs, ended)


def sample_ids(store: Store, job: str) -> list[str]:
    return [ref.sample_id for ref in store.refs(job)]


def listed(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert gnomon(*args, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_samples_are_listed_with_each_arms_score_and_what_changed(
    job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    names = sample_ids(store, job)
    assert gnomon("samples", job) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["sample", "cell", "raw", "tools", "change"]
    assert lines[1].split()[0] == names[0]
    assert lines[1].split()[2:] == ["1.000", "0.000", "regressed"]
    assert lines[2].split()[2:] == ["1.000", "1.000"]
    assert lines[3].split()[2:] == ["0.000", "1.000", "fixed"]
    assert len({line.index(word) for line, word in zip(lines[3:], ["fixed"] * 12, strict=True)}) == 1


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        (["--changed"], [0, *range(2, 14)]),
        (["--changed", "regressed"], [0]),
        (["--changed", "fixed"], list(range(2, 14))),
        (["--outcome", "model_failed"], [13]),
        (["--outcome", "model_failed", "--arm", "tools"], []),
        (["--limit", "3"], [0, 1, 2]),
    ],
)
def test_samples_are_filtered(
    filters: list[str], chosen: list[int], job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    names = sample_ids(store, job)
    assert [row["sample_id"] for row in listed(capsys, "samples", job, *filters)] == [
        names[at] for at in chosen
    ]


def test_samples_of_a_cell_and_of_an_arm(job: str, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    cell = store.refs(job)[0].cell
    rows = listed(capsys, "samples", job, "--cell", cell, "--arm", "raw")
    assert {row["cell"] for row in rows} == {cell}
    assert {tuple(row["arms"]) for row in rows} == {("raw",)}
    assert gnomon("samples", job, "--arm", "no") == 2
    assert "there are: raw, tools" in capsys.readouterr().err


def test_a_sample_that_is_right_in_half_of_its_repeats_is_not_fixed(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on the pages: more than half of several repeats must be right."""
    spec = JobSpec.model_validate({**SPEC, "repeats": 2})
    refs = open_spec(spec, MediaStore(tmp_path / "media")).samples.refs
    ended = [
        (row_of(refs[0], arm, float(arm == "tools" and repeat == 0), repeat=repeat), None)
        for arm in ("raw", "tools")
        for repeat in (0, 1)
    ]
    job = store.insert_finished_job(spec, refs, ended)
    assert listed(capsys, "samples", job, "--changed") == []
    [row] = listed(capsys, "samples", job, "--limit", "1")
    assert (row["arms"]["tools"]["score"], row["change"]) == (0.5, "")


def test_samples_of_a_spec_file_are_those_it_selects(
    job: str, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    rows = listed(capsys, "samples", "spec.json")
    assert [row["sample_id"] for row in rows] == sample_ids(store, job)
    assert gnomon("samples", "spec.json", "--changed") == 2


def test_a_trace_shows_steps_with_times_tokens_cost_answer_and_score(
    job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = sample_ids(store, job)[3]
    assert gnomon("trace", job, sample, "--arm", "tools") == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\x07" not in text
    for part in (
        sample, "line 0 of the question", "lines; --full shows them", "1  reply", "1.50 s, 1,200 + 30 tokens",
        "$0.0123, 2 tries", "hm", "I measure.", "changed by the adapter: seed: dropped",
        "2  distance  0.25 s", '{"a": 1}',
        '→ {"path_m": 4.5}', "It is [2JB.", "Answer  B]0;x", "Score   1.000 (scored: answered)",
    ):  # fmt: skip
        assert part in text
    assert "line 20 of the question" not in text
    assert gnomon("trace", job, sample, "--arm", "tools", "--full") == 0
    assert "line 20 of the question" in capsys.readouterr().out


def test_a_trace_as_json_is_the_trial_as_the_api_gives_it(
    job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = sample_ids(store, job)[3]
    shown = listed(capsys, "trace", job, sample, "--arm", "raw")
    assert shown == trial_view(store.trial(shown["trial_id"]))
    assert listed(capsys, "trace", shown["trial_id"]) == shown


def test_two_traces_are_shown_side_by_side(
    job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = sample_ids(store, job)[3]
    ids = [listed(capsys, "trace", job, sample, "--arm", arm)["trial_id"] for arm in ("raw", "tools")]
    assert gnomon("trace", *ids) == 0
    text = capsys.readouterr().out
    assert f"{sample}: reference / raw and reference / tools" in text
    assert 'distance({"a":1})' in text
    assert gnomon("trace", ids[0], ids[0]) == 0
    assert "all 1 steps are the same" in capsys.readouterr().out


def test_a_trace_has_colours_on_a_terminal_alone_and_keeps_to_its_width(job: str, store: Store) -> None:
    rows = [row for row in store.iter_rows(job) if row.arm == "tools"]
    views = [trial_view(store.trial(row.trial_id)) for row in rows[:2]]
    for is_terminal in (True, False):
        file = io.StringIO()
        console = Console(
            file=file, force_terminal=is_terminal, width=40, color_system="standard" if is_terminal else None
        )
        print_trace(views[0], console, truth="B \x1b[31m", full=True)
        print_side_by_side(views[0], {**views[1], "trace": {"steps": [END]}}, console)
        assert ("\x1b[" in file.getvalue()) == is_terminal
        plain = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
        assert "Truth   B [31m" in plain
        if is_terminal:
            assert max(map(len, plain.splitlines())) <= 40


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["trace", "t_none"], "no trial 't_none'"),
        (["trace", "JOB", "SAMPLE"], "there are: raw, tools"),
        (["trace", "JOB", "no-such", "--arm", "raw"], "no sample 'no-such'"),
        (["trace", "JOB", "SAMPLE", "--arm", "raw", "--repeat", "7"], "no trial"),
        (["trace", "a", "b", "c"], "IDS"),
        (["samples", "j_none"], "no job 'j_none'"),
    ],
)
def test_what_is_not_there_is_named(
    args: list[str], words: str, job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"JOB": job, "SAMPLE": sample_ids(store, job)[0]}
    assert gnomon(*[names.get(arg, arg) for arg in args]) == 2
    assert words in capsys.readouterr().err


def test_ids_may_be_shortened_until_several_begin_so(
    job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = sample_ids(store, job)[0]
    trial = listed(capsys, "trace", job[:8], sample, "--arm", "raw")["trial_id"]
    assert listed(capsys, "trace", trial[:14])["trial_id"] == trial
    Path("spec.json").write_text(json.dumps(SPEC))
    for command in ("samples", "report", "export --out out", "plan spec.json --pilot", f"diff {job[:9]}"):
        assert gnomon(*command.split(), job[:8]) == 0
    capsys.readouterr()
    assert gnomon("trace", "t_") == 2
    error = capsys.readouterr().err
    assert "begins the ids of several: t_" in error
    assert len(re.findall(r"t_[0-9a-f]{20}", error)) == 8
    assert gnomon("trace", job, sample[:2], "--arm", "raw") == 2
    assert sample in capsys.readouterr().err


def test_a_wildcard_is_no_beginning_of_an_id(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("samples", "%") == 2
    assert gnomon("trace", "t%") == 2
    assert "no trial 't%'" in capsys.readouterr().err


def test_benchmarks_are_listed_and_one_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("benchmarks") == 0
    text = capsys.readouterr().out
    assert all(name in text for name in BENCHMARKS.names())
    for name in BENCHMARKS.names():
        assert gnomon("benchmarks", name) == 0
        shown = capsys.readouterr().out
        assert name in shown
        assert "data" in shown
        document = listed(capsys, "benchmarks", name)
        assert document["tasks"] == list(BENCHMARKS.get(name).tasks)
    assert gnomon("benchmarks", "no") == 2
    assert "there are: " in capsys.readouterr().err


def test_a_benchmark_that_says_nothing_of_itself_is_described_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "quiet.py"
    path.write_text(
        "from gnomon_analyses.benchmarks.judging import judging\n"
        "from types import SimpleNamespace as Quiet\n"
        "names = ('version', 'tasks', 'scenes', 'variants', 'needs_data', 'headline', 'open', 'score')\n"
        "more = {name: getattr(judging, name) for name in (*names, 'score_record', 'published')}\n"
        "quiet = Quiet(name='quiet', __doc__='', **more)\n"
        "quiet.__doc__ = ''\n"
    )
    assert gnomon("benchmarks", "quiet", "--plugin", str(path)) == 0
    assert "quiet 1" in capsys.readouterr().out


def test_a_models_key_is_shown_as_set_and_never_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-mine")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for args in (
        ["models"],
        ["models", "openai/gpt-4o"],
        ["models", "--json"],
        ["models", "openai/gpt-4o", "--json"],
    ):
        assert gnomon(*args) == 0
        text = capsys.readouterr().out
        assert "OPENAI_API_KEY" in text
        assert "sk-of-mine" not in text
    document = listed(capsys, "models", "openai/gpt-4o")
    assert document["key_is_set"] is True
    assert document["context_tokens"] == 128_000
    assert document["usd_per_million_tokens"]["output"] == 10.0
    assert listed(capsys, "models", "anthropic/claude-sonnet-4-5")["key_is_set"] is False
    assert listed(capsys, "models", "reference")["built_in"] is True
    assert gnomon("models", "openai/none-such") == 0
    assert "unknown" in capsys.readouterr().out


def test_open_prints_the_address_of_what_the_running_service_shows(
    job: str, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon("open", "--print") == 2
    assert "`gnomon up` starts one" in capsys.readouterr().err
    with remembered(tmp_path, "http://127.0.0.1:9"):  # nothing listens there
        assert running_url(tmp_path) is None
    assert not (tmp_path / FILE).exists()
    (tmp_path / "report.html").write_text("<p>")
    assert gnomon("open", "report.html", "--print") == 0
    assert capsys.readouterr().out.strip() == (tmp_path / "report.html").as_uri()
    assert gnomon("open", "none.html", "--print") == 2


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"url": 1}', '{"url": "file:///etc/passwd"}', "\\xff"])
def test_a_broken_note_of_the_address_is_no_service(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    assert running_url(tmp_path) is None


def test_up_remembers_its_address_opens_the_page_and_forgets_it_at_its_end(
    job: str, store: Store, tmp_path: Path, warm_path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho \"$1\" > '{opened}'\n")
    browser.chmod(0o755)
    environ = {**os.environ, "BROWSER": str(browser), "GNOMON_DATA_DIR": str(tmp_path), "PATH": warm_path}
    command = ["gnomon", "up", "--port", "0", "--workers", "1", "--open"]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        for _ in range(200):
            if running_url(tmp_path) == url:
                break
            time.sleep(0.05)
        trial = next(store.iter_rows(job)).trial_id
        for args, path in (([], "/"), ([job[:9]], f"/ui/jobs/{job}"), ([trial], f"/ui/trials/{trial}")):
            assert gnomon("open", *args, "--print") == 0
            assert capsys.readouterr().out.strip() == url + path
        for _ in range(100):
            if opened.exists() and opened.read_text():
                break
            time.sleep(0.05)
        assert opened.read_text().strip() == f"{url}/"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert not (tmp_path / FILE).exists()


def completed(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    words = line.split(" ")
    monkeypatch.setenv(COMPLETE_VARIABLE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    gnomon()
    monkeypatch.delenv(COMPLETE_VARIABLE)
    output = capsys.readouterr()
    assert output.err == ""
    return [entry.partition(",")[2] for entry in output.out.splitlines() if entry]


def test_ids_and_names_are_completed(
    job: str, store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = next(store.iter_rows(job)).trial_id
    names = sample_ids(store, job)
    expected = {
        "gnomon sam": ["samples"],
        "gnomon trac": ["trace"],
        "gnomon report j_": [job],
        f"gnomon trace {trial[:12]}": [trial],
        f"gnomon trace {job} ": names,
        f"gnomon trace {job} {names[0]} --arm t": ["tools"],
        f"gnomon samples {job} --arm ": ["raw", "tools"],
        "gnomon benchmarks gtr": ["gtr-bench"],
        "gnomon tools call dist": ["distance"],
        "gnomon presets lad": ["ladder"],
        "gnomon models refer": ["reference"],
        "gnomon try spec.json --arm ": ["raw", "tools"],
        "gnomon completion z": ["zsh"],
        "gnomon export j_one --format insp": ["inspect", "inspect-eval"],
        "gnomon import --format insp": ["inspect"],
    }
    Path("spec.json").write_text(json.dumps(SPEC))
    for line, names_of_line in expected.items():
        assert completed(line, capsys, monkeypatch) == names_of_line, line


def test_completion_is_silent_where_nothing_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    lines = ("gnomon report j_", "gnomon trace j_1 ", "gnomon try none.yaml --arm ", "gnomon open t_")
    for broken in (None, b"no database", b""):
        if broken is not None:
            (tmp_path / "gnomon.db").write_bytes(broken)
        for line in lines:
            assert completed(line, capsys, monkeypatch) == [], line
    monkeypatch.setenv("GNOMON_DATABASE_URL", "postgresql://nowhere/none")
    assert completed("gnomon report j_", capsys, monkeypatch) == []


def test_completing_ids_loads_neither_the_store_nor_the_report() -> None:
    program = (
        "import sys; sys.argv = ['gnomon']\n"
        "from gnomon_service.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'sqlalchemy', 'numpy', 'scipy', 'fastapi', 'rich', 'litellm'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environ = {
        **os.environ,
        COMPLETE_VARIABLE: "bash_complete",
        "COMP_WORDS": "gnomon trace t_",
        "COMP_CWORD": "2",
    }
    subprocess.run([sys.executable, "-c", program], env=environ, check=True, capture_output=True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("completion", shell) == 0
    assert COMPLETE_VARIABLE in capsys.readouterr().out


def test_every_command_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert all(f"`gnomon {name.rstrip('-')}" in text for name in COMMANDS.names())


def test_logs_of_inspect_carry_targets_or_say_why_not(
    job: str, store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for is_here in (True, False):
        if not is_here:
            monkeypatch.setattr("gnomon_service.web.questions.Questions.views", lambda *_: None)
        assert gnomon("export", job, "--format", "inspect", "--out", "logs") == 0
        output = capsys.readouterr()
        samples = json.loads(Path(output.out.splitlines()[0]).read_text())["samples"]
        assert all(bool(sample["target"]) == is_here for sample in samples)
        assert all(sample["input"] for sample in samples)
        assert ("data are not here" in output.err) != is_here


def test_the_newest_jobs_are_named_without_their_ids(
    job: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    before = listed(capsys, "samples", job)
    assert listed(capsys, "samples", "last") == before
    assert gnomon("samples", f"last~{len(store.job_ids('', limit=100))}") == 2
    assert "JOB: no job 'last~1': 1 are stored" in capsys.readouterr().err
