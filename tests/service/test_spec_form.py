"""The form of a new job keeps, shows and writes an arm's condition and early stopping."""

from starlette.datastructures import FormData

from service.web.spec_form import CONDITIONS, changed, form_of

WRITTEN = {
    "benchmark": "worlds",
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "raw", "agent": "direct", "wording": "plain", "confidence": True},
        {"name": "tools", "agent": "react", "tools": "all", "results": "other_scene"},
    ],
    "analysis": {"margin": {"odds": 1.2}, "sequential": True},
}


def as_posted(**edits: str) -> FormData:
    """What a browser sends of the form, with these fields edited."""
    form = form_of(WRITTEN)
    fields = {name: str(value) for name, value in form["values"].items()}
    for kind in ("models", "arms"):
        for at, item in enumerate(form[kind]):
            fields |= {f"{kind}.{at}.{name}": value for name, value in item.items() if name != "chosen"}
    return FormData(fields | edits)


def test_an_unedited_form_leaves_conditions_margin_and_early_stopping_as_they_are() -> None:
    assert changed(WRITTEN, as_posted()) == WRITTEN


def test_a_condition_that_is_chosen_is_written_and_the_usual_one_is_not() -> None:
    edits = {
        "arms.0.wording": "original",
        "arms.0.confidence": "no",
        "arms.1.transform": "mirror",
        "arms.1.confidence": "yes",
        "analysis.sequential": "no",
    }
    spec = changed(WRITTEN, as_posted(**edits))
    raw, tools = spec["arms"]
    assert raw == {"name": "raw", "agent": "direct"}
    assert (tools["transform"], tools["confidence"], tools["results"]) == ("mirror", True, "other_scene")
    assert spec["analysis"] == {"margin": {"odds": 1.2}}


def test_a_form_that_does_not_send_conditions_keeps_them() -> None:
    sent = as_posted()
    kept = {name: value for name, value in sent.items() if name.rpartition(".")[2] not in CONDITIONS}
    assert changed(WRITTEN, FormData(kept))["arms"] == WRITTEN["arms"]
