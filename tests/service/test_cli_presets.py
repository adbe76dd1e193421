"""`gnomon presets` shows what each preset would run and what that costs."""

import json
from pathlib import Path

import pytest

from gnomon.core.agent import AGENTS
from gnomon.spec.preset import PRESETS
from gnomon.spec.rules import parse_spec
from gnomon.spec.spec_file import read_spec
from gnomon_service.cli.main import main

ROOT = Path(__file__).parents[2]


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    return int(ended.value.code or 0)


def test_all_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("presets") == 0
    said = capsys.readouterr().out
    assert all(name in said for name in PRESETS.names())
    assert gnomon("presets", "--json") == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == list(PRESETS.names())


def test_one_preset_shows_its_arms_contrasts_and_price(capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("presets", "ladder") == 0
    said = capsys.readouterr().out
    assert "live − facts *" in said
    assert "One sample takes 7 to 43 model calls." in said
    assert gnomon("presets", "ladder", "--benchmark", "gtr-bench", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["model_calls"] == [6, 42]
    assert "does not know" in shown["notes"][0]


def test_the_example_of_a_preset_is_a_spec() -> None:
    spec = parse_spec(read_spec(ROOT / "examples" / "ladder.yaml"), agents=AGENTS.names())
    names = ["raw", "facts", "schema_only", "placebo", "live", "facts_and_tools", "oracle"]
    assert [arm.name for arm in spec.arms] == names


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("lader",), "NAME"),
        (("matched_compute",), "arms.tokens"),
        (("dose", "--options", "{"), "--options"),
        (("dose", "--options", "[]"), "--options"),
        (("dose", "--benchmark", "gtr"), "benchmark"),
    ],
)
def test_a_wrong_name_or_option_is_named(
    args: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon("presets", *args) == 2
    assert says in capsys.readouterr().err


def test_the_plan_of_a_preset_prices_what_each_arm_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    path = tmp_path / "spec.yaml"
    path.write_text(
        "{benchmark: worlds, select: {limit: 14}, models: [{id: reference}], arms: {preset: ladder}}"
    )
    assert gnomon("plan", str(path), "--json") == 0
    tokens = {arm["arm"]: arm["prompt_tokens"] for arm in json.loads(capsys.readouterr().out)["arms"]}
    assert tokens["raw"] < tokens["oracle"] < tokens["facts"]
    assert tokens["raw"] < tokens["schema_only"] < tokens["placebo"] == tokens["live"]
