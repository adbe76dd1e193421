"""A plug-in with half an ability, or a method that takes something else, is refused when it is loaded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS, benchmark_fault
from gnomon.core.opened_question import OpenedQuestion, show_question
from gnomon.spec.model_providers import PROVIDERS
from gnomon.trials.condition import CONDITIONS
from gnomon_tools.core.outside import FILES_ENV, PluginFault
from tests.gnomon.test_trial import SAMPLE, ToyBenchmark

TOY = """
from tests.gnomon.test_trial import ToyBenchmark

class Mine(ToyBenchmark):
    {more}

mine = Mine(name="mine")
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def write(text: str) -> None:
        path = tmp_path / "mine.py"
        path.write_text(text)
        monkeypatch.setenv(FILES_ENV, str(path))

    return write


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            "def question_view(self, sample): ...",
            "it has question_view and lacks answer_sketch, which belongs to",
        ),
        (
            "def score(self, sample): ...",
            r"score\(sample\) is called as score\(sample, response, \*,",
        ),
        ("provides = ('scene',)", "provides='scene' is no type of input; allowed: None"),
        ("def oracle_steps(self): ...", r"oracle_steps\(\) is called as oracle_steps\(sample\)"),
    ],
)
def test_a_benchmark_is_refused_by_name_of_what_is_wrong(
    load: Callable[[str], None], more: str, says: str
) -> None:
    load(TOY.format(more=more))
    with pytest.raises(PluginFault, match=says):
        BENCHMARKS.get("mine")


def test_a_benchmark_without_faults_is_taken(load: Callable[[str], None]) -> None:
    load(TOY.format(more="def oracle_steps(self, sample): ..."))
    assert BENCHMARKS.get("mine").name == "mine"


AGENT = """
class Mine:
    name, uses_tools, description = "mine", False, "x"

    async def answer(self): ...

mine = Mine()
"""
PROVIDER = """
class Mine:
    name, calls_network, description = "mine", False, "x"

    def open(self, spec): ...

mine = Mine()
"""
CONDITION = """
from gnomon.trials.condition import Condition

class Mine(Condition):
    name = "mine"

    def on_sample(self, sample): ...

mine = Mine()
"""


@pytest.mark.parametrize(
    ("text", "registry", "says"),
    [
        (AGENT, AGENTS, r"answer\(\) is called as answer\(context\)"),
        (PROVIDER, PROVIDERS, r"open\(spec\) is called as open\(spec, media\)"),
        (CONDITION, CONDITIONS, r"on_sample\(sample\) is called as on_sample\(sample, now\)"),
    ],
)
def test_so_are_agents_models_and_conditions(
    load: Callable[[str], None], text: str, registry: object, says: str
) -> None:
    load(text)
    with pytest.raises(PluginFault, match=says):
        registry.get("mine")  # type: ignore[attr-defined]


def test_ours_have_no_faults() -> None:
    assert {plugin.name: fault for plugin in BENCHMARKS.own() if (fault := benchmark_fault(plugin))} == {}


class Broken(ToyBenchmark):
    """Whatever is asked of it fails in a way of its own."""

    def question_view(self, sample: object) -> object:
        raise AttributeError("no such thing")

    def answer_sketch(self, sample: object, answer: str | None) -> object:
        raise ZeroDivisionError


def test_a_view_that_raises_costs_that_view_alone() -> None:
    opened = OpenedQuestion(sample=SAMPLE, benchmark=Broken())
    shown = show_question(opened)
    assert (shown.view, shown.problem) == (None, "AttributeError: no such thing")
    assert not shown.answer_sketch("yes").marks
