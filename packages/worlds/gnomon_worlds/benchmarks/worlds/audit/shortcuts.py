"""Tries every shortcut on generated questions, and counts those whose truth hangs on edges and stairs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gnomon.core.audit_plugin import ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.option_features import OptionTable
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench.audit import answer_options
from gnomon_published.benchmarks.gtr_bench.audit import option_tables as tables_of_prompts
from gnomon_published.benchmarks.gtr_bench.audit import try_shortcuts as try_shortcuts_of_prompts
from gnomon_worlds.attainable import ON_EDGE_M, SAME_S, is_clear
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import ShownSteps, shown_steps
from gnomon_worlds.benchmarks.worlds.audit.step_features import SEEN
from gnomon_worlds.benchmarks.worlds.audit.steps_rules import ALONG_WAYS, along_ways
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import number_of


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """The shortcuts of prompts, and the whole way along the true steps, which is what these are worth."""
    yield from try_shortcuts_of_prompts(samples)
    for sample in samples["guarded"]:
        shown, offered = shown_steps(sample, steps_of_sample(sample)), answer_options(sample)
        if shown.task != "MS" and offered is not None:
            name, left = sample.ref.sample_id, along_ways(shown)
            yield guess(f"whole: {ALONG_WAYS}", "floor", "steps", name, left=left, offered=offered)


def option_tables(samples: Sequence[Sample]) -> Iterator[OptionTable]:
    """What cameras, boxes and map tell of each option, what words do, and what the true steps add to these.

    What words of the steps give is a leak of them; what a look-up gives is their worth.
    """
    yield from tables_of_prompts(samples)
    by_task: dict[str, list[ShownSteps]] = defaultdict(list)
    for sample in samples:
        shown = shown_steps(sample, steps_of_sample(sample))
        by_task[shown.task].append(shown)
    for questions in by_task.values():
        for seen in SEEN:
            options = np.array([seen.features(shown) for shown in questions])
            yield OptionTable(
                sees=seen.words,
                names=tuple(f"{seen.words} {at}" for at in range(options.shape[2])),
                sample_ids=tuple(shown.question.sample_id for shown in questions),
                options=options,
                kind=seen.kind,
                view=seen.view,
            )


def steps_of_sample(sample: Sample) -> str:
    """The true steps of a sample, as an arm shows them."""
    from gnomon_worlds.benchmarks.worlds.benchmark import Worlds

    return Worlds().oracle_steps(sample)


def level_of(sample: Sample) -> str | None:
    """How hard the question was to be."""
    return number_of(sample.ref.sample_id).level


def remarks(samples: Sequence[Sample]) -> Iterator[str]:
    """How many questions of each scene rest on such a stay, and which; nothing where none does."""
    is_clear_by_scene: dict[str, dict[str, bool]] = defaultdict(dict)
    for sample in samples:
        number = number_of(sample.ref.sample_id)
        drawn = draw(number)
        is_clear_by_scene[number.scene][number.sample_id] = is_clear(
            drawn.world, drawn.question, edge_m=ON_EDGE_M
        )
    for scene, by_id in sorted(is_clear_by_scene.items()):
        unclear = [sample_id for sample_id, clear in by_id.items() if not clear]
        if unclear:
            yield (
                f"{len(unclear)} of {len(by_id)} {scene} questions rest on a stay in view that begins or "
                f"ends where stairs do (to {SAME_S:g} s) or runs along the view's edge (to {ON_EDGE_M:g} m); "
                f"stairs count as out of view, the edge as in view: {', '.join(unclear)}."
            )
