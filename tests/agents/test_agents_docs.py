"""The documents say what the code does."""

import re
from pathlib import Path

import pytest

from gnomon.core.agent import AGENTS
from gnomon_agents.models import fault_table
from gnomon_agents.models import litellm_errors as faults
from gnomon_agents.models.reference.solver import SOLVERS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", AGENTS.names())
def test_every_agent_is_documented_as_it_describes_itself(name):
    assert f"| [`{name}`](#{name}) |" in (DOCS / "agents.md").read_text()
    assert AGENTS.get(name).description in (DOCS / "agents.md").read_text()


def test_every_cause_of_a_fault_is_documented():
    text = (DOCS / "models.md").read_text()
    verdicts = {value for value in vars(fault_table).values() if isinstance(value, fault_table.Verdict)}
    verdicts |= set(fault_table._STATUS.values())
    causes = {cause for _, cause, _ in faults._CAUSES} | {"no_api_key"}
    for cause in causes | {verdict.cause for verdict in verdicts if not verdict.is_models}:
        assert f"`provider:{cause}`" in text
    for cause in {verdict.cause for verdict in verdicts if verdict.is_models}:
        assert f"`model:{cause}`" in text


async def test_the_example_agent_works(new_context):
    block = re.search(r"```python\n(.*?)```", (DOCS / "adding-an-agent.md").read_text(), re.DOTALL)
    names = {}
    exec(compile(block[1], "adding-an-agent.md", "exec"), names)
    assert await names["twice"].answer(new_context(["first", "second"])) == "second"


def test_every_kind_of_question_the_reference_model_solves_is_documented():
    text = (DOCS / "reference-model.md").read_text()
    assert [name for name in SOLVERS.names() if f"`{name}`" not in text] == []


async def test_the_example_graph_works(new_context):
    block = re.findall(r"```python\n(.*?)```", (DOCS / "adding-an-agent.md").read_text(), re.DOTALL)[1]
    names = {}
    exec(compile(block, "adding-an-agent.md", "exec"), names)
    call = {"tool_calls": [{"name": "echo", "arguments": {"word": "hello"}}]}
    context = new_context([call, "It says hello."])
    assert await names["looped"].answer(context) == "It says hello."
    assert len(context.trace.tool_steps) == 1
