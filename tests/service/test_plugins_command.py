"""Packages that are broken: listed with what is wrong, and in nobody's way."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_workbench.new_plugin.write import write_plugin

GNOMON = str(Path(sys.executable).with_name("gnomon"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages: one that works, one without its module, and two with the same name."""
    folder = tmp_path / "site"
    works = write_plugin("tool", "stride_works", tmp_path).folder
    install(folder, "works", {"tools": {"stride_works": "stride_works"}})
    install(folder, "broken", {"tools": {"broken": "no_module"}, "agents": {"lost": "no_module"}})
    for name in ("one", "two"):
        install(folder, name, {"tools": {"twice": name}})
    (folder / "stride_works.py").write_text((works / "stride_works.py").read_text())
    return folder


def install(site: Path, name: str, points: dict[str, dict[str, str]]) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, modules in points.items()
        for line in (f"[gnomon.{group}]", *(f"{each} = {at}:{each}" for each, at in modules.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def gnomon(site: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GNOMON"))}
    env["PYTHONPATH"] = str(site)
    return subprocess.run(
        [GNOMON, *args], cwd=site.parent, env=env, capture_output=True, text=True, check=False
    )


def spec(site: Path, tools: Any) -> str:
    written = {
        "benchmark": "worlds",
        "select": {"limit": 1},
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": tools}],
    }
    path = site.parent / "job.yaml"
    path.write_text(yaml.safe_dump(written))
    return path.name


def test_every_plugin_of_others_is_listed_with_what_is_wrong_with_it(site: Path) -> None:
    listed = gnomon(site, "plugins", "--json")
    assert listed.returncode == 1, listed.stderr
    found = {each["name"]: each for each in json.loads(listed.stdout)["plugins"]}
    assert {name: each["kind"] for name, each in found.items()} == {
        "broken": "tool",
        "stride_works": "tool",
        "twice": "tool",
        "lost": "agent",
    }
    assert (found["stride_works"]["from"], found["stride_works"]["fault"]) == ("works 1.0", "")
    assert "does not load: ModuleNotFoundError: No module named 'no_module'" in found["broken"]["fault"]
    assert "is there twice: by one 1.0 and by two 1.0" in found["twice"]["fault"]


def test_a_broken_package_is_in_the_way_of_those_jobs_alone_that_name_it(site: Path) -> None:
    planned = gnomon(site, "show", spec(site, "all"), "--arm", "tools", "--sample", "w0-00000", "--json")
    assert planned.returncode == 0, planned.stderr
    offered = {tool["function"]["name"] for tool in json.loads(planned.stdout)["tools"]}
    assert "stride_works" in offered
    assert "broken" not in offered
    assert "the tool broken is left out: the tool 'broken' of broken 1.0" in planned.stderr
    for name, says in (("broken", "does not load"), ("twice", "is there twice")):
        refused = gnomon(site, "plan", spec(site, [name]))
        assert refused.returncode == 2
        assert f"gnomon: plugins: the tool '{name}'" in refused.stderr
        assert says in refused.stderr


def test_without_plugins_of_others_the_list_says_so(tmp_path: Path) -> None:
    listed = gnomon(tmp_path / "empty", "plugins")
    assert (listed.returncode, listed.stdout) == (0, "There are no plug-ins but Gnomon's own.\n")
