"""Every simulation that a page cites runs: its first design, in few jobs."""

import sys

import pytest

from bench import (
    claims,
    detectable_effects,
    gate_levels,
    statistics_levels,
    tokens_to_verdict,
)

COMMANDS = [
    (detectable_effects, ["--only", "40 independent"]),
    (gate_levels, ["--only", "40 samples"]),
    (claims, ["--only", "12 own"]),
    (statistics_levels, ["--only", "60 independent"]),
    (tokens_to_verdict, ["--only", "graded, +20, made for 20"]),
]


@pytest.mark.parametrize(
    ("module", "words"), COMMANDS, ids=[f"{module.__name__} {words}" for module, words in COMMANDS]
)
def test_a_simulation_prints_a_row_of_shares(module, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [module.__name__, *words, "--rounds", "2"])
    module.main()
    said, _, head, _, row, *_ = capsys.readouterr().out.splitlines()
    assert said.startswith("2 jobs a row")
    assert words[-1] in row
    assert row.count("|") == head.count("|")
