"""Messages of faults: kept without this process' secrets and without the folders of its machine."""

import pytest

from gnomon.core.errors import ModelFault
from gnomon.core.model import Reply, Request
from gnomon.core.redaction import redactor_here
from gnomon.core.sample import LACKS_MEDIA, DataFault
from gnomon.core.score import Outcome
from gnomon_service.api.serializers import job_view
from gnomon_service.reports import as_json, report_of
from gnomon_workers.budget.usage import Usage
from gnomon_workers.preflight import ask
from gnomon_workers.redacted_model import RedactedModel
from gnomon_workers.store import Store
from tests.workers.conftest import BOTH, TRACE, Clock, create, make_row, make_spec
from tests.workers.tiny_worker import refs

SECRET = "hunter2-hunter2"
SAID = f"/srv/data/set/a.json cannot be read with {SECRET}"
KEPT = "a.json cannot be read with [secret]"
REQUEST = Request(messages=[{"role": "user", "content": "?"}], tools=[])


@pytest.fixture(autouse=True)
def known_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redactor_here(), "_values", [])
    monkeypatch.setattr(redactor_here(), "_needles", None)
    redactor_here().add(SECRET)


def test_why_a_job_cannot_run_is_struck_in_the_job_and_in_its_rows(store: Store) -> None:
    job = create(store, 2)
    assert store.fail(job.id, SAID).error == KEPT
    assert {row.error for row in store.iter_rows(job.id)} == {KEPT}


def test_a_finished_row_is_struck_of_what_its_error_holds(store: Store) -> None:
    job = create(store, 1)
    (lease, _) = store.lease(job.id, 0, worker="w", ttl_s=9.0)
    row = make_row(lease, outcome=Outcome.INFRA_MISSING, score=None, stop_reason="data", error=SAID)
    store.finish([(lease, row, TRACE)])
    assert [row.error for row in store.iter_rows(job.id)] == [KEPT]


@BOTH
def test_what_a_preflight_met_is_struck(store: Store, clock: Clock) -> None:
    job = create(store)
    store.begin_check(job.id, "scripted", holder="a", ttl_s=9.0)
    store.end_check(
        job.id, "scripted", holder="a", state="unconfirmed", calls=1, spent=Usage(0.0, 0), error=SAID
    )
    assert [check.error for check in store.job(job.id).checks] == [KEPT]
    store.stop_model(job.id, "scripted", cause="auth", error=SAID)
    assert [check.error for check in store.job(job.id).checks] == [KEPT]
    assert {row.error for row in store.iter_rows(job.id)} == {KEPT}


def test_no_view_of_a_job_tells_where_its_server_keeps_things(store: Store) -> None:
    fault = DataFault(sample_id="s0", kind=LACKS_MEDIA, detail="none of them; looked in /srv/data/clips")
    arms = [{"name": "raw", "agent": "direct", "show": ["media"]}]
    job = store.create_job(make_spec(2, arms=arms), refs(2), faults=[fault])
    store.begin_check(job.id, "scripted", holder="a", ttl_s=9.0)
    store.stop_model(job.id, "scripted", cause="auth", error=SAID)
    shown = str(job_view(store.job(job.id))) + as_json(report_of(store, job.id))
    assert "looked in clips" in shown
    assert "a.json cannot be read" in shown
    assert "/srv" not in shown


class Refusing:
    """A model whose provider refuses, and is paid for it."""

    id = "refusing"

    async def reply(self, request: Request) -> Reply:
        said = Reply(text=f"not with {SECRET}", prompt_tokens=3, completion_tokens=4, usd=0.5)
        raise ModelFault("refused", cause="refused", reply=said)

    async def close(self) -> None:
        return


async def test_what_a_model_said_as_it_refused_is_redacted() -> None:
    with pytest.raises(ModelFault) as caught:
        await RedactedModel(Refusing()).reply(REQUEST)
    assert caught.value.reply is not None
    assert caught.value.reply.text == "not with [secret]"


async def test_a_preflight_that_is_answered_by_a_refusal_is_paid() -> None:
    found = await ask(Refusing(), REQUEST)
    assert (found.state, found.spent) == ("passed", Usage(0.5, 7))


class Beyond(Refusing):
    """A model that tells of tokens below nothing."""

    async def reply(self, request: Request) -> Reply:
        return Reply(text="OK", prompt_tokens=-5, completion_tokens=1, usd=float("nan"))


async def test_a_cost_that_cannot_be_counted_is_unknown() -> None:
    assert (await ask(Beyond(), REQUEST)).spent == Usage(None, None)
