"""A run whose store is away for a while, and a command whose store is away for good."""

import pytest
from sqlalchemy.exc import OperationalError

from gnomon_service.cli.main import COMMANDS, main
from gnomon_service.run_job import poll_job
from gnomon_workers.store.records import JobRecord
from gnomon_workers.store.store import Store
from tests.workers.conftest import create

AWAY = OperationalError("SELECT", None, ConnectionError("secret-host"))


class Flickering(Store):
    """Every other look at a job fails."""

    count = 0

    def job(self, job_id: str) -> JobRecord:
        self.count += 1
        if self.count % 2:
            raise AWAY
        return super().job(job_id)


def test_a_run_waits_for_a_store_that_comes_back(store: Store) -> None:
    job = create(store, 1)
    store.fail(job.id, "over")
    flickering = Flickering(store.url)
    (look,) = poll_job(flickering, job.id)
    assert (look.job.status, len(look.rows), flickering.count) == ("failed", 2, 2)
    flickering.close()


def test_a_store_that_is_away_is_one_line_that_names_no_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(**_: object) -> None:
        raise AWAY

    monkeypatch.setattr(COMMANDS.get("presets"), "callback", away)
    with pytest.raises(SystemExit) as ended:
        main(["presets"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert said == "gnomon: the store cannot be reached, or cannot write: ConnectionError\n"
