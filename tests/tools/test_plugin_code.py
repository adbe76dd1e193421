"""Code of plug-ins that waits for ever, ends the process, is interrupted, or prints."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from gnomon_service.cli.main import cli
from gnomon_tools.core import plugin_code
from gnomon_tools.core.outside import FILES_ENV, PluginFault, loaded_files
from gnomon_tools.core.plugin_code import (
    SECONDS_ENV,
    Escape,
    Interrupted,
    TooSlow,
    contained,
    is_ctrl_c,
    loading,
)
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Toolbox

GNOMON = str(Path(sys.executable).with_name("gnomon"))
ENDS = ["raise SystemExit(0)", "raise KeyboardInterrupt", "raise GeneratorExit", "raise Odd('no')"]
TOOL = '''
"""Tools of a file."""
import sys
from pydantic import Field
from gnomon_tools.core.tool import Tool, ToolArgs, ToolResult

class Odd(BaseException):
    """Caught by no `except Exception`."""

class Args(ToolArgs):
    """Nothing."""
    steps: int = Field(ge=0, description="how many steps")

class Walked(ToolResult):
    distance_m: float

def run(_, args: Args) -> Walked:
    print("printed by a call")
    {ends}
    return Walked(distance_m=args.steps * 0.7)

print("printed at import")
steps = Tool(name="steps", description="Turn steps into metres.", args=Args, run=run, needs=None)
'''


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a text into a plug-in file, and makes it the only one."""

    def put(text: str) -> Path:
        path = tmp_path / "my_plugin.py"
        path.write_text(text)
        monkeypatch.setenv(FILES_ENV, str(path))
        return path

    return put


def run_gnomon(folder: Path, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [GNOMON, *args], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("ends", ENDS)
def test_a_module_that_ends_the_process_at_import_is_named_with_its_line(load, ends: str):
    load(f"class Odd(BaseException): pass\n{ends}\n")
    with pytest.raises(PluginFault, match=r"my_plugin\.py does not load: my_plugin\.py, line 2: \w+"):
        loaded_files()


def test_a_module_that_waits_for_ever_is_named_given_up_and_does_not_keep_the_process(tmp_path: Path):
    (tmp_path / "waits.py").write_text("import threading\n\nthreading.Event().wait()\n")
    ended = run_gnomon(tmp_path, "tools", "list", "--plugin", "waits.py", **{SECONDS_ENV: "1"})
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "waits.py does not load: waits.py, line 3: it ran for 1 s; GNOMON_PLUGIN_SECONDS allows" in (
        ended.stderr
    )


def test_a_module_that_takes_long_is_told_of_once_and_one_that_catches_everything_is_given_up_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(plugin_code, "SAY_S", 0.02)
    monkeypatch.setattr(plugin_code, "AGAIN_S", 0.02)
    caught = []

    def holds_on() -> None:
        try:
            time.sleep(60)
        except BaseException as error:
            caught.append(type(error))
        time.sleep(60)

    with pytest.raises(TooSlow, match=r"it ran for 0.2 s"), loading("the file slow.py", most_s=0.2):
        holds_on()
    assert caught == [TooSlow]
    said = "gnomon: the file slow.py has been loading for 0.02 s; it is given up after 0.2 s\n"
    assert capsys.readouterr() == ("", said)


def test_an_alarm_of_somebody_else_goes_on_afterwards():
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    timer = signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with loading("a module"):
            assert signal.getsignal(signal.SIGALRM) is not before
        while not rung:
            signal.pause()
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)
    assert rung == [signal.SIGALRM]


def test_ctrl_c_while_a_module_runs_says_which(tmp_path: Path):
    (tmp_path / "waits.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    ended = run_gnomon(tmp_path, "tools", "list", "--plugin", "waits.py")
    assert ended.returncode == 1
    assert "gnomon: interrupted: while the plug-in file " in ended.stderr
    assert "waits.py was loaded" in ended.stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "inf", "0.5"])
def test_a_time_that_is_none_is_refused_by_the_name_of_its_variable(load, monkeypatch, seconds: str):
    load("x = 1\n")
    monkeypatch.setenv(SECONDS_ENV, seconds)
    with pytest.raises(PluginFault, match=rf"^GNOMON_PLUGIN_SECONDS: '{seconds}' is no number of seconds"):
        loaded_files()


def test_what_a_module_prints_is_not_among_the_results_of_a_command(load):
    path = load(TOOL.format(ends=""))
    for args in (["tools", "list", "--json"], ["tools", "call", "steps", "--args", '{"steps": 10}']):
        ended = CliRunner().invoke(cli, [*args, "--plugin", str(path)])
        assert ended.exit_code == 0, ended.output
        assert "printed" not in ended.stdout
        assert ended.stdout[0] in "[{"
        assert "printed" in ended.stderr


@pytest.mark.parametrize("ends", ENDS)
def test_a_call_that_would_end_the_process_is_a_crash_of_the_tool(load, monkeypatch, ends: str):
    load(TOOL.format(ends=ends))
    (file,) = loaded_files()
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)  # as in a worker: no Ctrl-C there
    toolbox = Toolbox([file.module.steps], ToolContext())
    observation = toolbox.call("steps", '{"steps": 3}')
    assert observation.error == "tool_crash"
    name = ends.split()[1].partition("(")[0]
    assert observation.content == f'{{"error": "The tool failed inside: {name}."}}'


def test_ctrl_c_is_the_users_only_where_pythons_own_handler_waits_for_it(monkeypatch):
    assert is_ctrl_c(Interrupted())
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.default_int_handler)
    assert is_ctrl_c(KeyboardInterrupt())
    heard: list[bool] = []
    thread = threading.Thread(target=lambda: heard.append(is_ctrl_c(KeyboardInterrupt())))
    thread.start()
    thread.join()
    assert heard == [False]
    with pytest.raises(KeyboardInterrupt), contained():
        raise KeyboardInterrupt
    with pytest.raises(asyncio.CancelledError), contained():
        raise asyncio.CancelledError
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    with pytest.raises(Escape, match=r"^KeyboardInterrupt$"), contained():
        raise KeyboardInterrupt
