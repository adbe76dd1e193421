"""`gnomon mcp` as a process of its own, met by the official client."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from gnomon_service.cli.common import settings_of
from gnomon_service.jobs import draft_from_cli
from gnomon_workbench.commands.mcp import mcp
from gnomon_workbench.mcp_offer import offer_of
from gnomon_workers.store.store import open_store

ROOT = Path(__file__).parents[2]
GNOMON = str(Path(sys.executable).with_name("gnomon"))
SMALL = str(ROOT / "examples" / "scenes" / "small.geojson")
REQUEST = {
    "id": "one-day",
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma"],
}


async def test_a_client_reads_a_scene_measures_on_it_and_has_a_trip_planned_and_checked(
    tmp_path: Path, warm_path: str
) -> None:
    program = f"{warm_path.split(os.pathsep)[0]}/gnomon"
    server = StdioServerParameters(command=program, args=["mcp", "--scene", SMALL], cwd=str(tmp_path))
    async with Client(server, mode="legacy") as client:
        assert {"distance", "plan_itinerary", "check_plan"} <= {
            tool.name for tool in (await client.list_tools()).tools
        }
        scene = await client.read_resource("scene://small")
        assert json.loads(scene.contents[0].text)["type"] == "FeatureCollection"  # type: ignore[union-attr]
        ends = {"start": {"camera": "c1"}, "end": {"camera": "c2"}}
        distance = await client.call_tool("distance", ends)  # the only scene need not be named
        assert distance.structured_content["straight_m"] == pytest.approx(97.652)
        planned = await client.call_tool("plan_itinerary", {"request": REQUEST})
        assert not planned.is_error
        assert planned.structured_content["verification"]["passes"]
        plan = planned.structured_content["plan"]
        plan["days"][0]["visits"][0]["leave"] = plan["days"][0]["visits"][0]["arrive"]
        checked = await client.call_tool("check_plan", {"plan": plan, "request": REQUEST})
        assert not checked.structured_content["passes"]
        text = await client.call_tool("plan_itinerary", {"request": {"text": "a day in Rome"}})
        assert text.is_error
        assert "reads no free text" in text.content[0].text  # type: ignore[union-attr]


def test_a_hostile_client_gets_errors_and_the_next_call_its_answer(tmp_path: Path) -> None:
    def call(number: int, method: str, **params: object) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    ends = {"start": {"camera": "c1"}, "end": {"camera": "c2"}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    passwords = "../../../../etc/passwd"
    lines = [
        call(1, "initialize", **hello),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/c',
        "[" * 100_000,
        f"[{'[],' * 5_000_000}[]]",  # 15 MB that would be decoded into 325
        call(3, "tools/destroy"),
        call(4, "tools/call", name="distance", arguments={**ends, "scene": passwords}),
        call(5, "resources/read", uri=f"scene://{passwords}"),
        call(6, "tools/call", name="distance", arguments={"start": [1e308, -1e308], "end": "x" * 3_000_000}),
        *(call(number, "tools/call", name="distance", arguments=ends) for number in range(100, 400)),
    ]
    server = subprocess.Popen(
        [GNOMON, "mcp", "--scene", SMALL],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server, ThreadPoolExecutor(1) as threads:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(lines[0] + "\n")
        server.stdin.flush()
        answers = {1: json.loads(server.stdout.readline())}
        idle_mb = most_mb(server.pid)
        writing = threads.submit(server.stdin.write, "\n".join(lines[1:]) + "\n")
        wanted = {3, 4, 5, 6, *range(100, 400)}
        while wanted - answers.keys():
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        peak_mb = most_mb(server.pid)
        writing.result()
        server.stdin.close()
    assert answers[3]["error"]["message"]
    assert "passwd" not in json.dumps(answers[4]["result"].get("structuredContent"))
    assert answers[4]["result"]["isError"]
    assert answers[6]["result"]["isError"]
    assert "error" in answers[5]
    assert {answers[number]["result"]["isError"] for number in range(100, 400)} == {False}
    assert "root:" not in json.dumps(list(answers.values()))
    assert peak_mb - idle_mb < 100, (idle_mb, peak_mb)


def most_mb(pid: int) -> float:
    """The most memory that a process has held so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1e3  # type: ignore[index]


async def test_it_serves_over_http_with_the_token_of_a_variable_until_interrupted(
    tmp_path: Path, warm_path: str
) -> None:
    command = ["gnomon", "mcp", "--scene", SMALL, "--tool", "speed", "--http", "127.0.0.1:0"]
    environment = {**os.environ, "TOOLS_TOKEN": "of-the-operator", "PATH": warm_path}
    with subprocess.Popen(  # noqa: ASYNC220 (the loop has nothing else to do)
        [*command, "--token-env", "TOOLS_TOKEN"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        url = re.search(r"http://\S+", line)
        assert url is not None, line
        async with httpx2.AsyncClient() as http:
            assert (await http.post(url[0], json={})).status_code == 401
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer of-the-operator"}) as http,
            Client(streamable_http_client(url[0], http_client=http)) as client,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["speed"]
            result = await client.call_tool("speed", {"distance_m": 105.0, "seconds": 75.0})
            assert result.structured_content["speed_mps"] == pytest.approx(1.4)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, err.strip()) == ("", "gnomon: interrupted")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--scene", "absent.geojson"], "absent.geojson"),
        (["--scene", SMALL, "--tool", "fly"], "the tool 'fly' is unknown"),
        (["--scene", SMALL, "--tool", "plan_trip"], "can work on none of the scenes"),
        (["--scene", SMALL, "--scene", SMALL], "two scenes are called 'small'"),
        (["--scene", "."], "holds no *.geojson"),
        (["--http", "localhost"], "'localhost' is no address"),
        (["--http", "0.0.0.0:8001"], "name a token with --token-env"),
        (["--http", "0.0.0.0:8001", "--token-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(mcp, args)
    assert result.exit_code != 0
    assert words in str(result.exception)


def test_scenes_come_from_a_folder_a_request_a_world_and_a_sample_of_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "towns"
    folder.mkdir()
    for name in ("north", "south"):
        (folder / f"{name}.geojson").write_text(Path(SMALL).read_text())
    (tmp_path / "trip.json").write_text(json.dumps(REQUEST))
    arms = [{"name": "raw", "agent": "direct"}]
    written = {"benchmark": "worlds", "select": {"limit": 1}, "models": [{"id": "reference"}], "arms": arms}
    settings = settings_of(None)
    draft = draft_from_cli(written, settings)
    with closing(open_store(settings.database_url)) as store:
        job = store.create_job(draft.spec, draft.refs)
    sample = f"{job.id}/{draft.refs[0].sample_id}"
    offer = offer_of(["towns", "trip.json", "w0-00003", sample])
    assert [resource.uri for resource in offer.resources] == [
        f"scene://{name}" for name in ("north", "south", "trip", "w0-00003", sample)
    ]
    texts = {
        resource.uri.removeprefix("scene://"): json.loads(resource.text()) for resource in offer.resources
    }
    assert texts["trip"] == REQUEST
    assert {texts[name]["type"] for name in ("north", "w0-00003", sample)} == {"FeatureCollection"}
