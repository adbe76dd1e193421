"""Measures what the true steps of worlds give away: rules and a learner on words alone, by task.

    python -m bench.oracle_steps --train 1 2 --test 3 4 --limit 840 [--difficulty hard]

Rules are counted on the test seeds; the learner is fitted on the training seeds and counted on the test ones.
Prints a table in Markdown: right of all questions (a rule that leaves several options counts as a guess among
them), with Wilson's 95 % interval.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.tables import head_of, line_of, parser_of, tell
from gnomon.core.benchmark import HasOracle
from gnomon.core.select import LEVELS, Level, Select
from gnomon.media import MediaStore
from gnomon.statistics.estimate import wilson
from gnomon_published.benchmarks.gtr_bench.audit import answer_options
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import ShownSteps, shown_steps
from gnomon_worlds.benchmarks.worlds.audit.steps_learner import LEARNERS
from gnomon_worlds.benchmarks.worlds.audit.steps_rules import ALONG_WAYS, along_ways
from gnomon_worlds.learner import learn

TASKS = ("GL", "ATI", "MS", "CR", "NSF", "TF", "MTTF")
Question = tuple[ShownSteps, int]  # and the index of the right option


def questions(seeds: Sequence[int], limit: int, *, difficulty: Level | None = None) -> Iterator[Question]:
    """The questions of some seeds with their true steps, read from words."""
    assert isinstance(worlds, HasOracle)
    with tempfile.TemporaryDirectory() as folder:
        media = MediaStore(Path(folder))
        for seed in seeds:
            select = Select(limit=limit, seed=seed, difficulty=difficulty)
            opened = worlds.open(data=None, select=select, protocol="guarded", media=media)
            for ref in opened.refs:
                sample = opened.get(ref.sample_id)
                options = answer_options(sample)
                assert options is not None
                yield shown_steps(sample, worlds.oracle_steps(sample)), options.right[0]


def shares(train: Sequence[Question], test: Sequence[Question]) -> dict[tuple[str, str], list[float]]:
    """By rule or learner and task: what is right of each test question."""
    right: dict[tuple[str, str], list[float]] = defaultdict(list)
    for shown, answer in test:
        if shown.task != "MS":
            left = along_ways(shown) or range(len(shown.options))
            right[f"whole: {ALONG_WAYS}", shown.task].append((answer in left) / len(left))
    for name, features in LEARNERS.items():
        for task in dict.fromkeys(shown.task for shown, _ in train):
            fitted = [(features(shown), answer) for shown, answer in train if shown.task == task]
            choose = learn([matrix for matrix, _ in fitted], [answer for _, answer in fitted])
            right[f"learned: {name}", task] = [
                float(choose(features(shown)) == answer) for shown, answer in test if shown.task == task
            ]
    return right


def main() -> None:
    """Print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--train", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--test", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--limit", type=int, default=840, help="questions of a seed")
    parser.add_argument("--difficulty", choices=LEVELS)
    options = parser.parse_args()
    train, test = (
        list(questions(seeds, options.limit, difficulty=options.difficulty))
        for seeds in (options.train, options.test)
    )
    right = shares(train, test)
    names = dict.fromkeys(name for name, _ in right)
    tell(head_of(["rule", *TASKS]))
    for name in names:
        tell(line_of([name, *(_cell(right.get((name, task), [])) for task in TASKS)]))


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "–"
    share = float(np.mean(values))
    low, high = wilson(share, len(values))
    return f"{100 * share:.0f} [{100 * low:.0f}, {100 * high:.0f}] {sum(values):g}/{len(values)}"


if __name__ == "__main__":
    main()
