"""Judging as a benchmark plug-in: a sample is a stored trace, the answer is its labels."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring
from gnomon.core.chosen_samples import ChosenSamples
from gnomon.core.errors import DataError, SpecError
from gnomon.core.judging import MATERIAL, fenced, parse_labels
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import NO_ANSWER, Option, QuestionView
from gnomon.core.sample import Part, Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.kinds import ANALYSES, LabelledByJudge
from gnomon_tools.core.regular_file import read_regular

FILE = "cases.ndjson"
_TAGGED = re.compile(r"<(question|trace)>\n(.*?)\n</\1>", re.DOTALL)

FIELDS = ("case_id", "analysis", "task", "cluster", "model", "arm", "question", "trace")


class Judging(PlainBenchmark):
    """Stored traces, each to be labelled by a judge; the score is the share of labels that hold."""

    name = "judging"
    version = "1"
    tasks: tuple[str, ...] = ("context_use", "gtr_errors", "sti_errors", "judged_answers")
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,  # noqa: ARG002 (there is one prompt)
        media: MediaStore,  # noqa: ARG002 (judges read text)
    ) -> SampleSet:
        select.check(tasks=self.tasks, scenes=self.scenes)
        cases = read_cases((data or Path()) / FILE)
        chosen = [case for case in cases.values() if not select.tasks or case["analysis"] in select.tasks]
        rows = {case["case_id"]: (_ref(case), case) for case in chosen[: select.limit]}
        return ChosenSamples(rows=rows, faults=(), build=_question)

    def score(
        self,
        sample: Sample,
        response: str,
        *,
        scoring: Scoring,  # noqa: ARG002 (there is one rule)
        variant: str | None = None,  # noqa: ARG002 (same)
    ) -> Score:
        return _score(response, tuple(sample.target["labels"]))

    def score_record(
        self,
        record: Mapping[str, Any],
        *,
        scoring: Scoring,  # noqa: ARG002 (there is one rule)
        variant: str | None = None,  # noqa: ARG002 (same)
    ) -> Score:
        analysis, response = record.get("analysis"), record.get("response")
        if analysis not in self.tasks:
            raise SpecError(f"no {analysis!r}; allowed: {', '.join(self.tasks)}", field="analysis")
        return _score(response if isinstance(response, str) else "", judged(str(analysis)).labels_for(""))

    def question_view(self, sample: Sample) -> QuestionView:
        analysis, names = judged(sample.ref.task), sample.target["labels"]
        prompt = "".join(part.content for part in sample.parts if isinstance(part.content, str))
        tagged = dict(_TAGGED.findall(prompt))
        return QuestionView(
            question=f"Which labels hold of this trace: {_subject(analysis)}?",
            options=tuple(Option(letter=name, text=analysis.labels[name]) for name in names),
            facts={name.capitalize(): text for name, text in tagged.items()},
        )

    def verdict_in_words(self, sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        if not answer:
            return NO_ANSWER
        names = sample.target["labels"]
        holding = [name for name in names if metrics.get(name) == 1.0]
        return f"{len(holding)} of {len(names)} labels hold{': ' if holding else ''}{', '.join(holding)}."


def judged(name: str) -> LabelledByJudge:
    """The judged analysis of this name.

    Raises:
        SpecError: the analysis needs no judge.
    """
    analysis = ANALYSES.get(name)
    if not isinstance(analysis, LabelledByJudge):
        raise SpecError(f"{name} needs no judge", field="analysis")
    return analysis


def read_cases(file: Path) -> dict[str, dict[str, str]]:
    """The cases of a file, by id.

    Raises:
        DataError: the file is absent, or a line is not a case.
    """
    try:
        lines = [json.loads(line) for line in read_regular(file).decode().splitlines() if line]
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}", field="data") from None
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, dict) or any(not isinstance(line.get(name), str) for name in FIELDS):
            raise DataError(f"{file}, line {number}: a case has the texts {', '.join(FIELDS)}", field="data")
        if line["analysis"] not in Judging.tasks:
            raise DataError(f"{file}, line {number}: no analysis {line['analysis']!r}", field="data")
    return {line["case_id"]: line for line in lines}


def _ref(case: Mapping[str, str]) -> SampleRef:
    analysis = case["analysis"]
    return SampleRef(sample_id=case["case_id"], task=analysis, cell=analysis, cluster=case["cluster"])


def _question(ref: SampleRef, case: Mapping[str, str]) -> Sample:
    analysis = judged(case["analysis"])
    names = analysis.labels_for(case["task"])
    return Sample(ref=ref, parts=(Part(content=_prompt(analysis, names, case)),), target={"labels": names})


def _prompt(analysis: LabelledByJudge, names: Sequence[str], case: Mapping[str, str]) -> str:
    subject = _subject(analysis)
    if analysis.shows_truth:
        return _answer_prompt(analysis, names, case)
    definitions = "\n".join(f"- {name}: {analysis.labels[name]}" for name in names)
    form = json.dumps(dict.fromkeys(names, 0))
    return (
        f"Below are a question and what a model did to answer it. Judge {subject}, by these labels. "
        "Each holds (1) or does not (0); several may hold, or none.\n"
        f"{definitions}\n\n"
        f"{MATERIAL}\n"
        f"<question>\n{fenced(case['question'])}\n</question>\n"
        f"<trace>\n{fenced(case['trace'])}\n</trace>\n\n"
        f"Reason briefly, then end with one line of JSON of this form: {form}"
    )


def _answer_prompt(analysis: LabelledByJudge, names: Sequence[str], case: Mapping[str, str]) -> str:
    return (
        "Below are a question, its right answer, and a reply. Say whether this holds (1) or not (0):\n"
        f"{'; '.join(f'{name}: {analysis.labels[name]}' for name in names)}\n\n"
        f"{MATERIAL}\n"
        f"<question>\n{fenced(case['question'])}\n</question>\n"
        f"<right_answer>\n{fenced(case.get('truth', ''))}\n</right_answer>\n"
        f"<trace>\n{fenced(case['trace'])}\n</trace>\n\n"
        f"Reason briefly, then end with one line of JSON of this form: {json.dumps(dict.fromkeys(names, 0))}"
    )


def _subject(analysis: LabelledByJudge) -> str:
    if analysis.shows_truth:
        return "whether its answer is right"
    return "how it came to its wrong answer" if analysis.only_wrong else "what its reasoning rests on"


def _score(response: str, names: Sequence[str]) -> Score:
    labels = parse_labels(response, names)
    if labels is None:
        return Score(value=0.0)
    holding = [name for name, holds in labels.items() if holds]
    return Score(
        value=len(holding) / len(names),
        answer=", ".join(holding) or "none",
        metrics={name: float(holds) for name, holds in labels.items()},
    )


judging: Benchmark = Judging()
