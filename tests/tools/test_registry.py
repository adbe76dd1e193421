"""Plug-ins of others: by entry points and by files, named where something is wrong with them."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon_tools.core import outside
from gnomon_tools.core.outside import FILES_ENV, PluginFault
from gnomon_tools.core.registry import Registry, UnknownPlugin
from gnomon_tools.core.tool import Tool

ROOT = Path(__file__).parents[2]
TOOL = '''
"""Tools of a file."""
from pydantic import Field
from gnomon_tools.core.tool import Tool, ToolArgs, ToolResult
from gnomon_tools.distance import distance

class Args(ToolArgs):
    """Nothing."""
    steps: int = Field(ge=0, description="how many steps")

class Walked(ToolResult):
    distance_m: float

def run(_, args: Args) -> Walked:
    return Walked(distance_m=args.steps * 0.7)

{name} = Tool(name="{name}", description="Turn steps into metres.", args=Args, run=run, needs=None)
_hidden = Tool(name="hidden", description="", args=Args, run=run)
'''

New = Callable[[], Registry[Tool[Any]]]


@pytest.fixture
def new() -> New:
    """A registry of tools that has read nothing yet."""
    return lambda: Registry(
        "gnomon_tools",
        "tool",
        dashes=False,
        group="gnomon.tools",
        accepts=lambda item: isinstance(item, Tool),
    )


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts texts into plug-in files and names these in GNOMON_PLUGINS."""

    def put(*texts: str) -> None:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))  # a file is run once per process
        paths = [folder / f"plugin_{at}.py" for at, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        monkeypatch.setenv(FILES_ENV, ":".join(map(str, paths)))

    return put


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lays a package into a folder on the path as an installer would: module, metadata, entry points."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(module: str, text: str, points: str, *, name: str = "Some.Tools") -> None:
        (site / f"{module}.py").write_text(text)
        info = site / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(points)
        outside._installed.cache_clear()

    yield put
    outside._installed.cache_clear()


def test_a_file_brings_its_public_objects_and_what_it_imports_of_ours_stays_ours(new, files):
    files(TOOL.format(name="steps"))
    tools = new()
    assert set(tools.names()) - set(tools.own_names()) == {"steps"}
    assert "steps" in tools
    assert tools.get("steps").run(None, tools.get("steps").args(steps=10)).distance_m == 7
    assert str(tools.origin("steps")).endswith("plugin_0.py")
    assert tools.origin("distance") is None
    assert tools.summary("steps") == "Turn steps into metres."
    assert len(tools.code("steps")) == 64


def test_a_package_brings_its_entry_points_and_is_imported_only_when_asked_for(new, install):
    install("walk_tools", TOOL.format(name="steps"), "[gnomon.tools]\nsteps = walk_tools:steps\n")
    tools = new()
    assert "steps" in tools.names()
    assert tools.summary("steps") == "Tools of a file."
    assert "walk_tools" not in sys.modules
    assert tools.get("steps").name == "steps"
    assert str(tools.origin("steps")) == "Some.Tools 1.2"
    assert tools.code("steps")


def test_a_name_that_is_there_twice_is_refused_with_both(new, files, install):
    files(TOOL.format(name="bearing"))
    with pytest.raises(
        PluginFault, match=r"'bearing' is there twice: by Gnomon itself \(gnomon_tools\) and by file .*_0.py"
    ):
        new().names()
    files(TOOL.format(name="steps"), TOOL.format(name="steps"))
    with pytest.raises(PluginFault, match=r"by file .*_0.py and by file .*_1.py"):
        new().names()
    files(TOOL.format(name="steps"))
    install("walk_more", TOOL.format(name="steps"), "[gnomon.tools]\nsteps = walk_more:steps\n")
    with pytest.raises(PluginFault, match=r"by Some.Tools 1.2 and by file .*_0.py"):
        new().names()


def test_of_two_packages_with_one_name_neither_is_had_and_all_others_are(new, install):
    for module, name in (("walk_one", "One"), ("walk_two", "Two")):
        points = f"[gnomon.tools]\nsteps = {module}:steps\n{module} = {module}:strides\n"
        install(module, TOOL.format(name="steps") + f"strides = {module} = steps", points, name=name)
    install("walk_far", TOOL.format(name="miles"), "[gnomon.tools]\nmiles = walk_far:miles\n", name="Far")
    tools = new()
    assert "steps" in tools
    with pytest.raises(
        PluginFault, match=r"^the tool 'steps' is there twice: by One 1.2 and by Two 1.2; one"
    ):
        tools.get("steps")
    assert set(tools.working_names()) - set(tools.own_names()) == {"miles"}
    assert tools.faults().keys() == {"steps", "walk_one", "walk_two"}


def test_a_package_with_a_name_of_ours_is_left_out_and_told_of(new, install, caplog):
    install("fast", TOOL.format(name="speed"), "[gnomon.tools]\nspeed = fast:speed\n")
    tools = new()
    assert tools.names() == tools.own_names()
    assert tools.origin("speed") is None
    says = (
        "the tool 'speed' is there twice: by Gnomon itself (gnomon_tools) and by Some.Tools 1.2; ours is used"
    )
    assert tools.faults() == {"speed": says}
    assert caplog.messages == [says]


def test_entry_points_that_cannot_be_read_hinder_no_other_package(new, install):
    install("unread", "", "[gnomon.tools\nx = y:z\n", name="Unread")
    install("walk_on", TOOL.format(name="steps"), "[gnomon.tools]\nsteps = walk_on:steps\n")
    assert new().get("steps").name == "steps"
    (fault,) = outside.unread_packages()
    assert fault.startswith("the entry points of Unread 1.2 cannot be read: File contains no section headers")


@pytest.mark.parametrize("text", ["def f(:", "\0"])
def test_a_package_whose_module_is_no_python_has_no_summary(new, install, text):
    install("no_python", text, "[gnomon.tools]\nsteps = no_python:steps\nmiles = no_module:miles\n")
    tools = new()
    assert (tools.summary("steps"), tools.summary("miles")) == ("", "")


def test_our_own_are_had_without_a_look_at_those_of_others(new, files):
    files("1 / 0")
    assert new().get("distance").name == "distance"
    assert "distance" in new()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\ny = = 2\n", "plugin_0.py, line 2: SyntaxError"),
        ("x = 1\n\nprint(unknown)\n", "plugin_0.py, line 3: NameError: name 'unknown' is not defined"),
        ("import json\njson.loads('{')\n", "plugin_0.py, line 2: JSONDecodeError"),
        ("raise SystemExit('no')\n", "plugin_0.py, line 1: SystemExit: no"),
        ("from gnomon_tools.core.toolbox import TOOLS\nTOOLS.names()\n", "line 2: PluginFault"),
    ],
)
def test_a_file_that_does_not_load_is_named_with_its_line(new, files, text, says):
    files(text)
    with pytest.raises(PluginFault) as fault:
        new().get("steps")
    assert says in str(fault.value)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ("steps = walk_away:steps", "No module named 'walk_away'"),
        ("steps = broken_tools:nothing", "has no attribute 'nothing'"),
        ("steps = broken_tools:Args", "is a class; it must be an object"),
        ("steps = broken_tools:run", "is no tool, but function"),
        ("steps = broken_tools:strides", "calls itself 'strides'"),
        ("stri__des = broken_tools:stri__des", "has a name that is not allowed"),
    ],
)
def test_a_package_that_is_broken_is_named_and_hinders_no_other_tool(new, install, points, says):
    name = "stri__des" if "stri__des" in points else "strides"
    install("broken_tools", TOOL.format(name=name), f"[gnomon.tools]\n{points}\n")
    sys.modules.pop("broken_tools", None)
    tools = new()
    with pytest.raises(PluginFault) as fault:
        tools.get(points.partition(" ")[0])
    assert says in str(fault.value)
    assert "Some.Tools 1.2" in str(fault.value)
    assert [tool.name for tool in tools] == list(tools.own_names())
    assert list(tools.faults()) == [points.partition(" ")[0]]


def test_a_path_that_is_relative_or_leads_nowhere_is_refused(new, monkeypatch):
    monkeypatch.setenv(FILES_ENV, "my_tool.py")
    with pytest.raises(PluginFault, match=r"'my_tool.py' is no absolute path"):
        new().names()
    monkeypatch.setenv(FILES_ENV, "/nowhere/my_tool.py")
    with pytest.raises(PluginFault, match=r"/nowhere/my_tool.py cannot be read: No such file"):
        new().names()


def test_a_name_that_there_is_not_is_answered_with_those_there_are(new, files):
    files(TOOL.format(name="steps"))
    with pytest.raises(UnknownPlugin, match=r"no tool 'strides'; there are: .*, steps"):
        new().get("strides")


def test_importing_the_registries_reads_no_entry_points():
    code = (
        "from gnomon_tools.core import outside\nfrom gnomon_tools.core.toolbox import TOOLS\n"
        "import gnomon.core.benchmark, gnomon.core.agent, gnomon.spec.preset\n"
        "assert outside._installed.cache_info().currsize == 0\nTOOLS.names()\n"
        "assert outside._installed.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
