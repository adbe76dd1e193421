"""Every agent that the registry finds keeps what all agents keep."""

import pytest

from gnomon.core.agent import AGENTS
from gnomon_conformance import checks


def test_the_registry_finds_the_agents():
    assert {"direct", "plan", "react", "text-react", "vote"} <= set(AGENTS.names())


@pytest.mark.parametrize("name", AGENTS.names())
def test_an_agent_keeps_what_all_keep(name):
    assert AGENTS.get(name).name == name
    assert AGENTS.summary(name)
    for check in checks(AGENTS.get(name)):
        check()
