"""A spec is refused early, with the field and what is allowed."""

import difflib
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from gnomon.core.errors import SpecError
from gnomon.core.sample import SampleRef
from gnomon.core.validation import ERRORS_READ
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon.spec.spec_file import load_yaml, read_spec
from gnomon.trials.trial_plan import count_trials, expand_trials

GOOD: dict[str, Any] = {
    "benchmark": "worlds",
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
}


def parse(**changes: Any) -> Any:
    return parse_spec({**GOOD, **changes}, agents=("direct", "react"))


def test_all_tools_are_spelled_out_once_the_spec_is_read() -> None:
    spec = parse()
    assert spec.arm("raw").tools == ()
    assert len(spec.arm("tools").tools) >= 1
    assert spec.arm("raw").toolset_hash != spec.arm("tools").toolset_hash


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"benchmark": "gtr"}, "benchmark", "gtr-bench"),
        ({"benchmark": "gtr-bench"}, "data", "published files"),
        ({"models": []}, "models", "at least 1"),
        ({"models": [{"id": "a"}, {"id": "a"}]}, "models", "stands twice"),
        ({"arms": [{"name": "raw", "agent": "magic"}]}, "arms.0.agent", "direct, react"),
        ({"arms": [{"name": "raw", "agent": "direct", "tools": ["fly"]}]}, "arms.0.tools", "distance"),
        ({"arms": {"preset": "lader"}}, "arms.preset", "ladder"),
        ({"repeats": 0}, "repeats", "must be greater than or equal to 1"),
        ({"concurrency": "many"}, "concurrency", "integer"),
        ({"protocol": "secret"}, "protocol", "'official', 'guarded' or"),
        ({"select": {"tasks": ["Cooking"]}}, "select.tasks", "GeoLocation"),
        ({"analysis": {"primary": ["raw", "cooked"]}}, "analysis.primary", "raw, tools"),
        ({"analysis": {"primary": ["raw", "raw"]}}, "analysis.primary", "twice"),
        ({"limits": {"usd": -1}}, "limits.usd", "greater than 0"),
        ({"speed": 9}, "speed", "not permitted; allowed here: name, benchmark"),
        ({"repeat": 3}, "repeat", "did you mean 'repeats'?"),
        ({"select": {"limt": 3}}, "select.limt", "did you mean 'limit'?"),
        ({"repeats": "x"}, "repeats", "must be a whole number"),
    ],
)
def test_a_bad_spec_names_the_field_and_what_is_allowed(
    changes: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(SpecError) as caught:
        parse(**changes)
    assert caught.value.field == field
    assert says in caught.value.message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_plain_data_is_a_spec_or_a_clear_error(given_: Any) -> None:
    with pytest.raises(SpecError):
        parse_spec(given_, agents=("direct",))


ODD = ("a: 2026-13-45", "a: !!bool x", "a: !!timestamp x", "a: " + "9" * 5000)


@pytest.mark.parametrize("text", ["a: [1", "{", "a: &x 1\nb: *x", "[" * 600, "\x00", *ODD])
def test_text_that_is_no_plain_yaml_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        load_yaml(text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "none.yaml")
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    assert read_spec(tmp_path / "good.json") == GOOD


def test_trials_are_distinct_repeatable_and_paired() -> None:
    spec = parse(repeats=3)
    refs = [SampleRef(sample_id=f"s{i}", task="t", cell="c", cluster="k") for i in range(5)]
    trials = list(expand_trials("j", spec, refs))
    assert len(trials) == count_trials(spec, len(refs)) == len({trial.trial_id for trial in trials}) == 30
    assert trials == list(expand_trials("j", spec, refs))
    assert [trial.arm for trial in trials[:2]] == ["raw", "tools"]
    assert trials[0].seed == trials[1].seed != trials[2].seed


def test_an_arm_may_have_repeats_of_its_own() -> None:
    arms = [{"name": "raw", "agent": "direct", "repeats": 3}, {"name": "tools", "agent": "react"}]
    spec, plain = parse(arms=arms), parse(arms=[{**arms[0], "repeats": None}, arms[1]])
    refs = [SampleRef(sample_id="s", task="t", cell="c", cluster="k")]
    trials = list(expand_trials("j", spec, refs))
    assert [(trial.arm, trial.repeat) for trial in trials] == [
        ("raw", 0),
        ("tools", 0),
        ("raw", 1),
        ("raw", 2),
    ]
    assert len(trials) == count_trials(spec, 1)
    assert {trial.trial_id for trial in expand_trials("j", plain, refs)} == {t.trial_id for t in trials[:2]}
    assert "repeats" not in plain.model_dump(mode="json")["arms"][0]
    with pytest.raises(SpecError, match=r"arms.0.repeats"):
        parse(arms=[{**arms[0], "repeats": 0}])


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": "a\x1b]0;b\x07"}),
        ("models.0.name", {"models": [{"id": "reference", "name": "a\x9b2J"}]}),
        ("models.0.id", {"models": [{"id": "openai/a\nb"}]}),
        ("arms.0.name", {"arms": [{"name": "a\rb", "agent": "direct"}]}),
    ],
)
def test_a_name_that_drives_a_terminal_is_refused(field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="control character") as caught:
        parse(**changes)
    assert caught.value.field == field


def test_a_name_may_hold_any_other_character() -> None:
    assert parse(name="東京 – día 1 👩‍🚀").name == "東京 – día 1 👩‍🚀"


def models_of(annotation: object) -> set[type[BaseModel]]:
    """The models in a type, with those that their fields reach."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        inner = [models_of(field.annotation) for field in annotation.model_fields.values()]
        return {annotation}.union(*inner)
    return set[type[BaseModel]]().union(*map(models_of, get_args(annotation)))


FIELDS = {
    f"{model.__name__}.{name}": field
    for model in models_of(JobSpec)
    for name, field in model.model_fields.items()
}


TEXTS = {name: field.description or "" for name, field in FIELDS.items()}


def test_every_field_of_a_spec_is_described() -> None:
    assert {name: text for name, text in TEXTS.items() if len(text) < 10 or not text.endswith(".")} == {}
    assert {name: text for name, text in TEXTS.items() if text != " ".join(text.split())} == {}


def test_a_description_explains_null_where_that_is_the_default_and_nowhere_else() -> None:
    explained = {name for name, text in TEXTS.items() if "null: " in text}
    assert explained == {name for name, field in FIELDS.items() if field.default is None}


def test_a_description_explains_empty_where_that_is_the_default() -> None:
    explained = [name for name, text in TEXTS.items() if "empty: " in text]
    defaults = {name: FIELDS[name].get_default(call_default_factory=True) for name in explained}
    assert {name for name, default in defaults.items() if default is None or len(default)} == set()


def test_every_part_of_a_spec_is_among_those_checked() -> None:
    assert {name.partition(".")[0] for name in FIELDS} >= {"JobSpec", "Price", "Faults", "AttributionSpec"}


def test_of_very_many_unknown_names_only_some_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(difflib, "get_close_matches", lambda name, *args, **kwargs: looked.append(name) or [])
    with pytest.raises(SpecError, match="not permitted"):
        parse(**{f"k{at}": 1 for at in range(5_000)})
    assert len(looked) <= 2 * ERRORS_READ
