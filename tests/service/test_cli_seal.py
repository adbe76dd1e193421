"""A third party checks a seal: with `gnomon verify`, with standard tools, and with a real time authority."""

import contextlib
import hashlib
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gnomon.core.seal import next_line, read_lines
from gnomon.time_stamps import Unsigned
from gnomon_service.reports import report_of
from gnomon_workers.sealer import Sealer, time_stamp
from gnomon_workers.store.store import Store, open_store

SPEC = """
benchmark: worlds
select: {limit: 4}
models: [{id: reference}]
arms: [{name: raw, agent: direct}, {name: tools, agent: react, tools: all}]
"""
Command = Callable[..., "subprocess.CompletedProcess[str]"]
AUTHORITY = """
[tsa]
default_tsa = here
[here]
serial = serial
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
accuracy = secs:1
crypto_device = builtin
tsa_name = yes
ess_cert_id_chain = no
"""


@pytest.fixture(scope="module")
def ran(run_gnomon: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a job that has run: its data folder, its rows and its seal."""
    folder = tmp_path_factory.mktemp("sealed")
    (folder / "job.yaml").write_text(SPEC)
    done = run_gnomon("run", "job.yaml", "--out", "out", "--data-dir", "data", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    job = json.loads(done.stdout)["job"]["id"]
    sealed = run_gnomon("seal", job, "--data-dir", "data", "--out", "seal.ndjson", cwd=folder)
    assert sealed.returncode == 0, sealed.stderr
    return folder


def test_a_run_ends_with_plan_and_results_sealed(ran: Path) -> None:
    report = json.loads((ran / "out" / "report.json").read_text())
    assert [line["kind"] for line in report["seal"]["lines"]] == ["planned", "results"]
    assert (
        report["seal"]["planned_at"] == report["job"]["created_at"] if "created_at" in report["job"] else True
    )
    assert (report["seal"]["after"], report["seal"]["faults"]) == ([], [])
    assert report["seal"]["lines"][0]["sha256"] in (ran / "out" / "report.html").read_text()
    assert report["seal"]["lines"][0]["sha256"] in (ran / "out" / "report.md").read_text()


def test_the_seal_and_the_rows_hold(run_in_process: Command, ran: Path) -> None:
    done = run_in_process("verify", "seal.ndjson", "--rows", "out/rows.ndjson", cwd=ran)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 rows" in done.stdout


def test_standard_tools_alone_come_to_the_same(ran: Path) -> None:
    script = """
    LC_ALL=C sort out/rows.ndjson | sha256sum | cut -c1-64
    head -n 1 seal.ndjson | tr -d '\\n' | sha256sum | cut -c1-64
    """
    done = subprocess.run(["sh", "-c", script], cwd=ran, capture_output=True, text=True, check=True)
    rows, plan = done.stdout.split()
    _, results = read_lines((ran / "seal.ndjson").read_text().splitlines())
    assert (rows, plan) == (results.body["rows_sha256"], results.body["previous"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"margin":0.05', '"margin":0.5'),
        ('"kind":"results"', '"kind":"time","of":"0"'),
        ('"number":1', '"number":2'),
    ],
)
def test_a_changed_seal_is_found(
    run_in_process: Command, ran: Path, tmp_path: Path, old: str, new: str
) -> None:
    text = (ran / "seal.ndjson").read_text()
    assert old in text
    (tmp_path / "seal.ndjson").write_text(text.replace(old, new))
    done = run_in_process("verify", "seal.ndjson", "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert json.loads(done.stdout)["holds"] is False


@pytest.mark.parametrize("change", ["score", "dropped", "added"])
def test_changed_rows_are_found(run_in_process: Command, ran: Path, tmp_path: Path, change: str) -> None:
    lines = (ran / "out" / "rows.ndjson").read_text().splitlines(keepends=True)
    row = json.loads(lines[0])
    other = json.dumps({**row, "score": 1.0 - (row["score"] or 0.0)}) + "\n"
    changed = {"score": [other, *lines[1:]], "dropped": lines[1:], "added": [*lines, other]}[change]
    (tmp_path / "rows.ndjson").write_text("".join(changed))
    done = run_in_process("verify", str(ran / "seal.ndjson"), "--rows", "rows.ndjson", cwd=tmp_path)
    assert done.returncode == 1
    assert "FAIL" in done.stdout


def test_rows_in_another_order_and_with_columns_of_a_later_version_are_the_same(
    run_in_process: Command, ran: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in (ran / "out" / "rows.ndjson").read_text().splitlines()]
    later = [json.dumps({**row, "a_later_column": 1}) + "\n" for row in reversed(rows)]
    (tmp_path / "rows.ndjson").write_text("".join(later))
    done = run_in_process("verify", str(ran / "seal.ndjson"), "--rows", "rows.ndjson", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "text", ["", "no json\n", '{"kind": "other"}\n', "[]\n", '{"kind":"planned"}é\n', '{"a":' * 100_000]
)
def test_what_is_no_seal_is_refused(run_in_process: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "seal.ndjson").write_text(text)
    done = run_in_process("verify", "seal.ndjson", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a time authority that signs with OpenSSL, and its certificate."""
    openssl, folder = shutil.which("openssl"), tmp_path_factory.mktemp("authority")
    assert openssl is not None, "install openssl"
    (folder / "tsa.cnf").write_text(AUTHORITY)
    (folder / "serial").write_text("01\n")
    request = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 3 -subj /CN=authority"
    usage = [
        "-addext",
        "extendedKeyUsage=critical,timeStamping",
        "-addext",
        "keyUsage=critical,digitalSignature",
    ]
    subprocess.run([openssl, *request.split(), *usage], cwd=folder, check=True, capture_output=True)

    class Signs(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            (folder / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            reply = "ts -reply -queryfile query -signer cert.pem -inkey key.pem -config tsa.cnf -out reply"
            subprocess.run([openssl, *reply.split()], cwd=folder, check=True, capture_output=True)
            body = (folder / "reply").read_bytes()
            if self.path == "/broken":
                body = body[: len(body) // 2]
            if self.path == "/earlier" and (folder / "first").exists():
                body = (folder / "first").read_bytes()
            (folder / "first").write_bytes(body)
            self.send_response(500 if self.path == "/ill" else 200)
            self.end_headers()
            self.wfile.write(body)
            with contextlib.suppress(OSError):  # the client has closed the connection
                while self.path == "/endless":
                    self.wfile.write(bytes(10_000))

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Signs)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder / "cert.pem"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_time_authority_vouches_for_plan_and_results(
    run_in_process: Command, ran: Path, authority: tuple[str, Path]
) -> None:
    url, certificate = authority
    store: Store = open_store(f"sqlite:///{ran / 'data' / 'gnomon.db'}")
    job = json.loads((ran / "out" / "report.json").read_text())["job"]["id"]
    sealer = Sealer(store, every_s=1.0, timestamp_url=url)
    sealer.turn()
    sealer.turn()
    seal = report_of(store, job)["seal"]
    text = "".join(f"{line.text}\n" for line in store.seal(job))
    store.close()
    assert seal is not None
    assert [line["authority"] for line in seal["lines"]] == [url, url]
    (ran / "signed.ndjson").write_text(text)
    assert text.count('"kind":"time"') == 2
    done = run_in_process("verify", "signed.ndjson", "--trust", str(certificate), cwd=ran)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("its signature holds") == 2


def test_the_signature_of_a_stranger_is_found(
    run_in_process: Command, ran: Path, authority: tuple[str, Path], tmp_path: Path
) -> None:
    test_a_time_authority_vouches_for_plan_and_results(run_in_process, ran, authority)
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out other.pem -days 3 -subj /CN=other"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    done = run_in_process("verify", str(ran / "signed.ndjson"), "--trust", "other.pem", cwd=tmp_path)
    assert done.returncode == 1
    assert "FAIL" in done.stdout


@pytest.mark.parametrize("path", ["/broken", "/ill", "/earlier", "/endless"])
def test_an_authority_that_signs_nothing_or_something_else_is_not_believed(
    authority: tuple[str, Path], path: str
) -> None:
    first = next_line([], "planned", {"at": path})
    time_stamp(first, authority[0])
    with pytest.raises(Unsigned):
        time_stamp(next_line([], "planned", {"at": f"other {path}"}), f"{authority[0]}{path}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://", "http://[", "http://127.0.0.1:none"])
def test_an_authority_that_is_away_or_has_no_address_delays_nothing(ran: Path, url: str) -> None:
    store = open_store(f"sqlite:///{ran / 'data' / 'gnomon.db'}")
    Sealer(store, every_s=1.0, timestamp_url=url).turn()
    store.close()


def test_a_seal_does_not_hold_the_password_for_the_authority(authority: tuple[str, Path]) -> None:
    url = authority[0].replace("http://", "http://user:secret@")
    assert time_stamp(next_line([], "planned", {}), url)["authority"].rstrip("/") == authority[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("of", None),
        ("of", {}),
        ("authority", 1),
        ("reply", None),
        ("reply", "%"),
        ("reply", "é"),
        ("authority", "\x1b]0;title\x07"),
    ],
)
def test_a_line_of_a_time_stamp_that_says_nothing_fails_in_words(
    run_in_process: Command, ran: Path, tmp_path: Path, field: str, value: object
) -> None:
    texts = (ran / "seal.ndjson").read_text().splitlines()
    body = {"of": read_lines(texts)[0].sha256, "authority": "http://here", "reply": "AAAA", field: value}
    line = next_line(texts, "time", body)
    (tmp_path / "seal.ndjson").write_text("\n".join([*texts, line.text]))
    done = run_in_process("verify", "seal.ndjson", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAIL line 3: " in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("field", ["rows", "columns", "rows_sha256", "at"])
def test_a_line_of_results_without_a_field_fails_in_words(
    run_in_process: Command, ran: Path, tmp_path: Path, field: str
) -> None:
    first, last = (ran / "seal.ndjson").read_text().splitlines()
    body = json.loads(last)
    del body[field]
    (tmp_path / "seal.ndjson").write_text(f"{first}\n{json.dumps(body)}\n")
    done = run_in_process("verify", "seal.ndjson", "--rows", str(ran / "out" / "rows.ndjson"), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"FAIL line 2: '{field}' is missing" in done.stdout


@pytest.mark.parametrize("row", ["[" * 100_000, "9" * 5_000, "null"])
def test_rows_that_no_json_reader_reads_are_not_the_sealed_ones(
    run_in_process: Command, ran: Path, tmp_path: Path, row: str
) -> None:
    (tmp_path / "rows.ndjson").write_text(row)
    done = run_in_process("verify", str(ran / "seal.ndjson"), "--rows", "rows.ndjson", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_file_without_certificates_is_refused(run_in_process: Command, ran: Path, tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("no certificate")
    done = run_in_process("verify", str(ran / "seal.ndjson"), "--trust", "none.pem", cwd=tmp_path)
    assert done.returncode == 2
    assert "--trust: none.pem holds no PEM certificates" in done.stderr


def test_a_digest_is_of_the_text_without_its_end() -> None:
    line = next_line([], "planned", {})
    assert line.sha256 == hashlib.sha256(line.text.encode()).hexdigest()
