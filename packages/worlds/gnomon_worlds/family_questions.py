"""Asks and scores multiple-choice questions on generated worlds: the prompt's last part, and one letter."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gnomon.core.benchmark import Scoring, reject_variant
from gnomon.core.errors import SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import Option, QuestionView, ShownPicture, plain_verdict
from gnomon.core.sample import ImageRef, Sample
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.reading.letter_score import score_letter
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family import LETTERS, FamilyQuestion
from gnomon_worlds.families.family_numbers import F, FamilyNumber, FamilyNumbers

PER_CELL = 30  # where `select.limit` is not given, as worlds have


def asked(question: FamilyQuestion) -> str:
    """The question, its options under their letters, and the form of the answer."""
    return "\n".join(
        (
            f"Question: {question.whole_text}",
            "Options:",
            *(f"{letter}. {words}" for letter, words in question.by_letter.items()),
            'Answer with one JSON object: {"answer": "<letter of one option>"}.',
        )
    )


def score_lettered_record(record: Mapping[str, Any]) -> Score:
    """The score of a record with `answer` and `response`, of which only the letters are known.

    Raises:
        SpecError: the answer is no letter, or the response no text.
    """
    gold, response = record.get("answer"), record.get("response")
    if not isinstance(gold, str) or gold not in tuple(LETTERS):
        raise SpecError(f"a letter from A to {LETTERS[-1]}, got {gold!r}", field="answer")
    if not isinstance(response, str):
        raise SpecError("is missing or no text", field="response")
    return score_letter(response, dict.fromkeys(LETTERS, ""), gold, asked="json")


class LetteredQuestions(PlainBenchmark):
    """What benchmarks of such questions have in common: selections, scores, and views for people."""

    name: str
    tasks: tuple[str, ...]
    scenes: tuple[str, ...]

    def numbers(
        self,
        families: Sequence[F],
        *,
        data: Path | None,
        select: Select,
        features: Sequence[str],
        measure: Callable[[FamilyNumber[F]], Mapping[str, float | str]],
    ) -> FamilyNumbers[F]:
        """The numbers of the selected questions; a cell is a family in one kind of scene.

        `features` are those of the benchmark, `measure` draws a question and returns those that it has.

        Raises:
            SpecError: `data` is given, or `select` names a task, a scene or a feature that does not exist,
                or a feature that a task does not have.
            DataError: a cell has no questions within the ranges of features, so that no run begins.
        """
        if data is not None:
            raise SpecError("worlds are generated and read no data; leave it out", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        cells = tuple(
            (family, scene)
            for family in families
            for scene in family.scenes
            if family.task in (select.tasks or self.tasks) and scene in (select.scenes or self.scenes)
        )
        limit = PER_CELL * len(cells) if select.limit is None else select.limit
        difficulties = Difficulty.in_turn(select.difficulty, features=features)
        refs = FamilyNumbers(select.seed, cells, limit if cells else 0, difficulties)
        if difficulties[0] and difficulties[0].ranges:
            plain = [FamilyNumber(family, scene, select.seed, 0) for family, scene in cells[:limit]]
            difficulties[0].check_features({number.family.task: measure(number) for number in plain})
            for index in range(min(limit, len(cells))):
                measure(refs.number(index))
        return refs

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        """What rules of thumb score, which leave out a step."""
        question: FamilyQuestion = sample.target["question"]
        return {rule: (question.right in left) / len(left) for rule, left in question.rules.items() if left}

    def score(
        self,
        sample: Sample,
        response: str,
        *,
        scoring: Scoring,  # noqa: ARG002 (there is one rule)
        variant: str | None = None,
    ) -> Score:
        """One option in any usual spelling; anything else is no answer and 0."""
        reject_variant(self.name, variant)
        question: FamilyQuestion = sample.target["question"]
        return score_letter(response, question.by_letter, question.gold, asked="json")

    def score_record(
        self,
        record: Mapping[str, Any],
        *,
        scoring: Scoring,  # noqa: ARG002 (there is one rule)
        variant: str | None = None,
    ) -> Score:
        reject_variant(self.name, variant)
        return score_lettered_record(record)

    def question_view(self, sample: Sample) -> QuestionView:
        question: FamilyQuestion = sample.target["question"]
        return QuestionView(
            question="\n".join((*question.evidence, question.whole_text)),
            options=tuple(
                Option(letter=letter, text=words, right="right" if letter == question.gold else "")
                for letter, words in question.by_letter.items()
            ),
            truth_text=f"{question.gold}. {question.options[question.right]}",
            pictures=tuple(
                ShownPicture(image=part.content, caption="Map")
                for part in sample.parts
                if isinstance(part.content, ImageRef) and part.shown == "map"
            ),
            facts=question.facts,
        )

    def verdict_in_words(
        self,
        sample: Sample,
        answer: str,
        metrics: Mapping[str, float | str | None],  # noqa: ARG002 (the answer says it all)
    ) -> str:
        return plain_verdict(self.question_view(sample), answer)
