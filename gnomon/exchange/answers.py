"""Reads answers that people or other programs gave to a job's questions, and scores them as the job does."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.row import Row
from gnomon.core.sample import Sample, SampleRef
from gnomon.core.score import Outcome
from gnomon.core.validation import StrictModel
from gnomon.exchange.json_lines import checked
from gnomon.exchange.row_file import lines_of
from gnomon.trials.job_context import JobContext
from gnomon.trials.rescore import rescored


class AnswerLine(StrictModel):
    """A line of an answer file; an empty or null answer: the person gave none, so nothing can be scored."""

    sample_id: Annotated[str, Field(min_length=1)]
    answer: str | None
    model: Annotated[str, Field(min_length=1, max_length=200)] = "human"
    repeat: Annotated[int, Field(ge=0)] = 0


def read_answers(path: Path) -> list[AnswerLine]:
    """The lines of a .ndjson, .jsonl or .csv file.

    Raises:
        SpecError: it cannot be read, or a line is no answer or comes twice; names the line and the field.
    """
    answers: dict[tuple[str, str, int], AnswerLine] = {}
    for number, line in lines_of(path, absent=("answer",)):
        answer = checked(AnswerLine, line, where=f"line {number}")
        key = (answer.sample_id, answer.model, answer.repeat)
        if key in answers:
            message = f"{answer.model} answers {answer.sample_id!r} twice; give each its own repeat"
            raise SpecError(message, field=f"line {number}")
        answers[key] = answer
    if not answers:
        raise SpecError("holds no answers", field="FILE")
    return list(answers.values())


def scored_answers(
    lines: Sequence[AnswerLine],
    *,
    arm: str,
    bench: JobContext,
    refs: Mapping[str, SampleRef],
    sample: Callable[[str], Sample],
) -> Iterator[tuple[Row, dict[str, Any] | None]]:
    """A row and trace of each answer, as if a model had given it under that arm.

    Raises:
        NotFound: the job does not have the sample.
    """
    for line in lines:
        ref = refs.get(line.sample_id)
        if ref is None:
            raise NotFound(f"the job has no sample {line.sample_id!r}", field="sample_id")
        row = Row(
            job_id="",
            trial_id="",
            benchmark=bench.benchmark.name,
            task=ref.task,
            cell=ref.cell,
            sample_id=ref.sample_id,
            cluster=ref.cluster,
            model=line.model,
            arm=arm,
            repeat=line.repeat,
            outcome=Outcome.INFRA_MISSING,
            stop_reason="imported:missing",
            score=None,
        )
        if line.answer:
            trace = {"prompt": [], "steps": [], "response": line.answer}
            yield rescored(row, line.answer, bench=bench, sample=sample(line.sample_id)), trace
        else:
            yield row, None
