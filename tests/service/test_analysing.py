"""Analysing a stored job: which trials a judge gets to read, and what is made of what it says."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.imported_job import run_of
from gnomon_analyses.kinds import ANALYSES, LabelledByJudge
from gnomon_analyses.run_analysis import judged
from gnomon_service.cli.main import main
from gnomon_service.settings import Settings, read_settings
from gnomon_workers.store.store import Store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({}, data_dir=tmp_path)


def rows(benchmark: str = "worlds") -> Iterator[Row]:
    for number in range(60):
        yield Row(
            job_id="",
            trial_id="",
            benchmark=benchmark,
            task="GeoLocation",
            cell="indoor.GL",
            sample_id=f"s{number}",
            cluster=f"v{number // 2}",
            model="m",
            arm="raw",
            repeat=0,
            outcome=Outcome.SCORED,
            stop_reason="answered",
            score=float(number % 2),
        )


def keep(store: Store, given: Iterator[Row]) -> str:
    step = {"kind": "reply", "text": "I guess.", "tool_calls": []}
    run = run_of([("", [(row, {"prompt": [], "steps": [step]}) for row in given])], name="played")
    return store.insert_finished_job(run.spec, run.refs, run.ended)


class Judge:
    """Runs the judging job as a judge would who sees every label in every trace."""

    def __init__(self, store: Store) -> None:
        self.store, self.specs = store, []

    def __call__(self, spec: dict[str, Any]) -> str:
        self.specs.append(spec)
        lines = (Path(spec["data"]) / "cases.ndjson").read_text().splitlines()
        said = [
            replace(
                row,
                sample_id=json.loads(line)["case_id"],
                model=model["id"],
                answer="x",
                metrics={"topology": 1.0},
            )
            for line, row in zip(lines, rows("judging"), strict=False)
            for model in spec["models"]
        ]
        run = run_of([("", [(row, None) for row in said])], name="judged")
        return self.store.insert_finished_job(run.spec, run.refs, run.ended)


def errors() -> LabelledByJudge:
    found = ANALYSES.get("gtr_errors")
    assert isinstance(found, LabelledByJudge)
    return found


def test_only_wrong_trials_are_read_for_errors(store: Store, settings: Settings) -> None:
    judge, job = Judge(store), keep(store, rows())
    more: dict[str, Any] = {
        "judges": ["a", "{id: b, temperature: 0}"],
        "limit": None,
        "repeats": 1,
        "run": judge,
    }
    found = judged(store, errors(), job, settings, **more)
    assert found["judged"] == 30
    assert found["shares"][0]["labels"]["topology"]["share"] == 1.0
    assert found["agreement"]["topology"]["same"] == 1.0
    [spec] = judge.specs
    assert spec["models"] == [{"id": "a"}, {"id": "b", "temperature": 0}]
    assert spec["benchmark"] == "judging"


def test_a_limit_draws_the_same_trials_each_time(store: Store, settings: Settings) -> None:
    judge, job = Judge(store), keep(store, rows())
    for _ in range(2):
        judged(store, errors(), job, settings, judges=["a"], limit=25, repeats=1, run=judge)
    assert judge.specs[0]["data"] == judge.specs[1]["data"]


def test_too_few_trials_and_other_benchmarks_are_refused(store: Store, settings: Settings) -> None:
    job, other = keep(store, rows()), keep(store, rows("sums"))
    more: dict[str, Any] = {"judges": ["a"], "repeats": 1, "run": Judge(store)}
    with pytest.raises(SpecError, match="5 trials with a trace to judge; this analysis needs 20"):
        judged(store, errors(), job, settings, limit=5, **more)
    with pytest.raises(SpecError, match="is of 'sums'; gtr_errors reads gtr-bench, worlds"):
        judged(store, errors(), other, settings, limit=None, **more)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nope", "j"], "NAME: no analysis 'nope'; there are: "),
        (["gtr_errors", "j"], "--judge: gtr_errors needs a judge model"),
        (["model_clusters", "j", "--judge", "x"], "--judge: model_clusters needs no judge"),
        (["gtr_errors", "j", "k", "--judge", "x"], "JOB: gtr_errors reads one job at a time"),
        (["call_path", "j", "k"], "JOB: call_path reads one job at a time"),
        (["wild_bootstrap", "j", "--judge", "x"], "--judge: wild_bootstrap needs no judge"),
    ],
)
def test_a_wrong_call_is_named(
    args: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["analyse", *args, "--data-dir", str(tmp_path)])
    assert end.value.code == 2
    assert says in capsys.readouterr().err


def test_counted_analyses_of_several_jobs_stand_side_by_side(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = ("a", "b", "c")
    jobs = [
        keep(
            store,
            iter(
                replace(row, model=f"m{n}", cell=cells[at % 3], task=cells[at % 3], score=((n * at) % 7) / 7)
                for at, row in enumerate(rows())
            ),
        )
        for n in range(1, 4)
    ]
    with pytest.raises(SystemExit) as end:
        main(["analyse", "model_clusters", *jobs, "--json", "--data-dir", str(tmp_path)])
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["models"] == ["m1", "m2", "m3"]


def two_arms() -> Iterator[Row]:
    for row in islice(rows(), 36):
        place = int(row.sample_id[1:])
        yield replace(row, score=float(place % 3 == 0))
        yield replace(row, arm="tools", score=float(place % 4 < 2), tool_calls=1)


def test_figures_of_one_job_are_printed_in_words_and_as_json(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = keep(store, two_arms())
    printed = {}
    for name in ("leave_one_cluster_out", "wild_bootstrap", "mixed_model", "call_path"):
        for flags in ([], ["--json"]):
            with pytest.raises(SystemExit) as end:
                main(["analyse", name, job, *flags, "--data-dir", str(tmp_path)])
            assert end.value.code == 0
            printed[name, bool(flags)] = capsys.readouterr().out
    assert "tools − raw" in printed["leave_one_cluster_out", False]
    for name in ("leave_one_cluster_out", "wild_bootstrap"):
        [pair] = json.loads(printed[name, True])["pairs"]
        assert pair["diff"] == pytest.approx(1 / 6)
        assert pair["clusters"] == 18
    assert json.loads(printed["mixed_model", True])["convergence"]["converged"]
    assert "The fit converged" in printed["mixed_model", False]
    assert json.loads(printed["call_path", True])["arms"][0]["nodes"]["not_called"]["n"] == 36


def test_own_questions_are_judged_with_the_right_answer_and_the_judge_is_held_against_others(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    lines = [
        {
            "id": f"s{number}",
            "question": f"What is river {number} called?",
            "answer": "Aura",
            "rubric": "Spelling does not count.",
            "reply": "The Aura." if number % 2 else "No idea.",
            "label": number % 2,
        }
        for number in range(20)
    ]
    data = tmp_path / "own.jsonl"
    data.write_text("\n".join(json.dumps(line) for line in lines))
    trials = [
        (
            replace(
                row,
                sample_id=f"s{number}",
                cluster=f"s{number}",
                arm=arm,
                cell="question",
                task="question",
                score=float(arm == "tools" and number < 15),
            ),
            {"prompt": [], "response": f"{arm} says Aurra", "steps": [{"kind": "reply", "text": "x"}]},
        )
        for arm in ("raw", "tools")
        for number, row in enumerate(list(rows("questions"))[:20])
    ]
    run = run_of([("", trials)], name="own")
    job = store.insert_finished_job(run.spec.model_copy(update={"data": str(data)}), run.refs, run.ended)
    cases: list[dict[str, str]] = []

    def judge(spec: dict[str, Any]) -> str:
        cases.extend(
            json.loads(line) for line in (Path(spec["data"]) / "cases.ndjson").read_text().splitlines()
        )
        labels = [float("tools" in case["trace"] or "The Aura" in case["trace"]) for case in cases]
        said = [
            replace(row, sample_id=case["case_id"], model="j", answer="x", metrics={"right": label})
            for case, label, row in zip(cases, labels, rows("judging"), strict=True)
        ]
        judging = run_of([("", [(row, None) for row in said])], name="judged")
        return store.insert_finished_job(judging.spec, judging.refs, judging.ended)

    analysis = ANALYSES.get("judged_answers")
    assert isinstance(analysis, LabelledByJudge)
    found = judged(store, analysis, job, settings, judges=["j"], limit=None, repeats=1, run=judge)
    assert found["judged"] == 40
    assert {case["truth"] for case in cases} == {"Aura\nRubric: Spelling does not count."}
    assert sum(case["case_id"].startswith("label ") for case in cases) == 20
    assert found["against_labels"]["j"]["kappa"] == 1.0
    assert found["against_scorer"]["j"]["same"] == pytest.approx(35 / 40)
    [contrast] = [row for row in found["contrasts"] if (row["baseline"], row["variant"]) == ("raw", "tools")]
    assert contrast["diff"] == 1.0
    assert contrast["n"] == 20
    by_arm = {group["group"]: group["labels"]["right"]["share"] for group in found["shares"]}
    assert by_arm["m / tools"] == 1.0
    assert by_arm["m / raw"] == 0.0
