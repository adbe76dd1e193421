"""Servers that hang, die, change, flood, lie or pry end as recorded outcomes, and nothing of them is left."""

import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.media import MediaStore
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.sandboxed import landlock_abi
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_tools.servers import stdio
from gnomon_tools.servers.connections import close_all, connections
from gnomon_tools.servers.listing import Listing
from gnomon_tools.servers.server_spec import McpServer, ServerLimits, ToolServer
from gnomon_tools.servers.tool import server_tool

SERVER = Path(__file__).with_name("plain_server.py")
SUM = {"a": 1, "b": 2}


def definition(mode: str, **limits: float) -> ToolServer:
    given = ServerLimits(**{"call_seconds": 20, "start_seconds": 30, **limits})
    return ToolServer(mcp=McpServer(command=[sys.executable, str(SERVER), mode]), limits=given)


@pytest.fixture(scope="module")
def listing() -> Iterator[Listing]:
    yield connections().list_tools("plain", definition("good"))
    close_all()


@pytest.fixture
def call(listing: Listing, tmp_path: Path):
    def run(mode: str, name: str = "add", arguments: object = SUM, **limits: float) -> Observation:
        server = definition(mode, **limits).model_copy(update={"listing": listing})
        tools = [server_tool("plain", server, listed) for listed in listing.tools]
        context = ToolContext(media=MediaStore(tmp_path / "media"))
        return Toolbox(tools, context).call(f"plain__{name}", json.dumps(arguments))

    return run


def test_a_good_server_answers_again_and_again_and_states_what_keeps_it(call, listing: Listing) -> None:
    assert [call("good").content for _ in range(3)] == ["3"] * 3
    assert json.loads(call("good", "measure", {}).content)["distance_m"] == 12.5
    assert listing.protocol == "2025-11-25"
    assert "Landlock" in listing.sandbox


def test_arguments_that_break_the_schema_never_reach_the_server(call) -> None:
    observation = call("dies", "add", {"a": "one"})
    assert observation.error == "bad_arguments"
    assert "'one' is not of type 'number'" in observation.content


def test_a_call_that_hangs_is_a_timeout_and_another_server_takes_the_next(call) -> None:
    for _ in range(2):
        observation = call("hang", call_seconds=0.5)
        assert (observation.error, "within 0.5 s" in observation.content) == ("timeout", True)


@pytest.mark.parametrize(
    ("mode", "stop_reason", "words"),
    [
        ("dies", "server:died", "ended with code 3: the disk of this server is broken"),
        ("mute", "server:start", "it listed no tools within 1 s"),
        ("logs", "server:start", "1 s; what it wrote on stdout is no MCP message: do its logs go there?"),
    ],
)
def test_a_server_that_dies_or_never_starts_is_no_fault_of_the_model(call, mode, stop_reason, words) -> None:
    with pytest.raises(ServerFault) as fault:
        call(mode, start_seconds=30 if mode == "dies" else 1)
    assert fault.value.stop_reason == stop_reason
    assert words in str(fault.value)


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ServerFault, match="/nowhere/at/all: there is no such program"):
        connections().list_tools("gone", ToolServer(mcp=McpServer(command=["/nowhere/at/all"])))


def test_a_server_that_prints_and_ends_is_shown_with_all_it_said() -> None:
    says = "echo Starting; echo no licence; echo and no disk >&2; exit 3"
    server = ToolServer(mcp=McpServer(command=["/bin/sh", "-c", says]))
    with pytest.raises(ServerFault, match="ended with code 3: Starting no licence and no disk"):
        connections().list_tools("talker", server)


def test_a_server_whose_tools_change_between_calls_is_found_out(call) -> None:
    assert call("changing").content == "3"
    with pytest.raises(ServerFault, match="not what was frozen with the job: add") as fault:
        call("changing")
    assert fault.value.stop_reason == "server:changed"


def test_ten_megabytes_are_cut_and_an_endless_line_ends_the_server(call, monkeypatch) -> None:
    big = call("big")
    assert (big.error, len(big.content) < 51_000) == (None, True)
    assert big.content.endswith("[cut: 50,000 of 10,000,000 bytes]")
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 1_000_000)
    assert call("endless").error == "bad_result"


@pytest.mark.parametrize(
    ("mode", "name"),
    [("types", "add"), ("breaks_schema", "measure"), ("not_a_number", "measure"), ("half", "add")],
)
def test_results_of_wrong_types_are_told_as_such(call, mode, name) -> None:
    assert call(mode, name, SUM if name == "add" else {}).error == "bad_result"


def test_noise_wrong_pictures_and_questions_of_the_server_break_nothing(call) -> None:
    assert call("noise").content == "3"
    assert call("asks").content == "3"
    assert call("bad_picture").content == "[a picture that cannot be read]"


@pytest.mark.skipif(not landlock_abi(), reason="this kernel has no Landlock")
def test_a_server_reads_nothing_that_it_was_not_granted(call, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the answers")
    for path in (str(secret), "/etc/passwd", f"/proc/{os.getpid()}/environ"):
        assert call("good", "read_file", {"path": path}).error == "tool_error"
    assert "def listing" in call("good", "read_file", {"path": str(SERVER)}).content


@pytest.mark.parametrize("links", [True, False])
def test_an_environment_may_link_to_its_python_or_copy_it(tmp_path: Path, links: bool) -> None:
    venv.create(tmp_path, symlinks=links)
    command = [str(tmp_path / "bin" / "python"), str(SERVER), "good"]
    try:
        assert connections().list_tools("copied", ToolServer(mcp=McpServer(command=command))).tools
    finally:
        close_all()


def test_a_server_gets_no_variables_but_those_that_are_named(call, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    names = call("good", "measure", {"what": "environment"}).content
    assert "PATH" in names
    assert "OPENAI_API_KEY" not in names


def _running(mark: str) -> list[str]:
    shown = subprocess.run(["ps", "-wweo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if line.endswith(mark)]


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are kept by a process on Linux alone")
def test_what_a_server_began_in_sessions_of_its_own_ends_with_it(call) -> None:
    mark = f"began-by-{os.getpid()}"
    call("forks", "measure", {"what": mark})
    assert len(_running(mark)) == 2
    close_all()
    assert _running(mark) == []


KILLED = """
import os, sys
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.servers.connections import connections
from gnomon_tools.servers.server_spec import McpServer, ToolServer
server = ToolServer(mcp=McpServer(command=sys.argv[1:4]))
tool = next(tool for tool in connections().list_tools("plain", server).tools if tool.name == "measure")
connections().call("plain", server, tool, {"what": sys.argv[4]})
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process learns of its parent's death on Linux alone")
def test_what_a_server_began_ends_with_a_worker_that_is_killed() -> None:
    mark = f"orphan-of-{os.getpid()}"
    command = [sys.executable, "-c", KILLED, sys.executable, str(SERVER), "forks", mark]
    killed = subprocess.run(command, check=False, timeout=60, cwd=Path(__file__).parents[3])
    assert killed.returncode == -9
    until = time.monotonic() + 20
    while _running(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert _running(mark) == []


def test_a_listing_of_wrong_types_says_so_and_not_how_the_process_ended() -> None:
    with pytest.raises(ServerFault, match="does not fit the protocol: tools: "):
        connections().list_tools("plain", definition("bad_listing"))


def test_no_process_is_left_behind(call) -> None:
    call("good")
    close_all()
    left = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    mine = [line for line in left.splitlines() if line.split()[0] == str(os.getpid())]
    assert not [line for line in mine if SERVER.name in line]
