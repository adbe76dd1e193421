"""What a job is written as, byte by byte as others' readers have passed it.

The files in `exchange/` are of the job in `tests/exchange_jobs.py`. They were checked by programs that are
no packages of this project: the logs by Inspect AI 0.3.285 (`read_eval_log`), the trajectories by `atif`
1.8.0 and Harbor 0.25.0, the records by `every-eval-ever` 0.3.0 (`validate`: no error, no warning), the table
by pandas, as VLMEvalKit reads it. A change of these files has to be checked in the same way.
"""

from pathlib import Path

import pytest

from gnomon.exchange.format import files_of
from tests.exchange_jobs import small_job

FILES = Path(__file__).parent / "exchange"
KINDS: list[str] = ["inspect", "atif", "otel", "every-eval-ever", "vlmevalkit", "chat"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_is_written_as_others_have_read_it(kind: str) -> None:
    folder = FILES / kind
    written = {file.name: b"".join(file.chunks) for file in files_of(kind, small_job())}
    kept = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(written) == set(kept)
    for name, data in written.items():
        assert data.decode() == kept[name].read_text(encoding="utf-8"), name
