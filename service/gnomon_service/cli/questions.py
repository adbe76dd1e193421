"""Opens a job's samples to show their questions and truths, where its data are on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.core.question_view import QuestionView
    from gnomon.spec.job_spec import JobSpec


def questions_of(
    spec: "JobSpec", data_dir: Path
) -> "Callable[[str, str | None], QuestionView | None] | None":
    """What a person is shown of a sample, by its id and the arm that asks it (None: the original question),
    and None for a sample that is not in the job's data.

    None instead where the data cannot be opened here.
    """
    from gnomon.conditions.transform import question_under
    from gnomon.core.benchmark import view_of
    from gnomon.core.errors import GnomonError
    from gnomon_tools.core.registry import UnknownPlugin
    from gnomon_workers.open_job import media_of, open_spec

    try:
        opened = open_spec(spec, media_of(data_dir))
    except (GnomonError, UnknownPlugin, OSError):
        return None

    def question(sample_id: str, arm: str | None) -> "QuestionView | None":
        try:
            sample = opened.samples.get(sample_id)
            if arm is not None and spec.arm(arm).transform is not None:
                sample = question_under(spec.arm(arm), sample, opened.bench)
            return view_of(opened.bench.benchmark, sample)
        except (GnomonError, LookupError, OSError):
            return None

    return question
