"""Check the seal of a job against its results and the signatures of time authorities."""

import base64
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import SpecError
from gnomon_service.cli.main import DONE, INCOMPLETE
from gnomon_service.cli.options import json_option
from gnomon_tools.core.json_text import json_value

if TYPE_CHECKING:
    from gnomon.core.seal import SealLine


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("seal", type=FILE)
@click.option("--rows", type=FILE, help="The job's rows.ndjson: are these the results that were sealed?")
@click.option("--trust", type=FILE, help="PEM certificates of the time authority: do its signatures hold?")
@json_option
def verify(seal: Path, rows: Path | None, trust: Path | None, as_json: bool) -> None:
    """Check the file SEAL that `gnomon seal` wrote. Needs no job and no database.

    Ends with 0 where everything holds, with 1 where something does not.
    """
    lines = _read(seal)
    whole, checks = _whole(lines)
    checks += [*_chain(lines), *_signatures(whole, _certificates(trust) if trust else b"")]
    if rows is not None:
        checks.append(_results(list(whole.values()), rows))
    is_good = all(check["holds"] for check in checks)
    if as_json:
        click.echo(json.dumps({"holds": is_good, "checks": checks}, indent=2))
    else:
        for check in checks:
            what = "".join(char if char.isprintable() else "?" for char in check["what"])
            click.echo(f"{'ok  ' if check['holds'] else 'FAIL'} {what}")
    sys.exit(DONE if is_good else INCOMPLETE)


def _read(path: Path) -> "list[SealLine]":
    from gnomon.core.seal import read_lines

    try:
        lines = read_lines(path.read_text(encoding="ascii").splitlines())
    except ValueError as error:
        raise SpecError(f"{path.name}: {error}", field="seal") from None
    if not lines:
        raise SpecError(f"{path.name} is empty; allowed: a file of `gnomon seal`", field="seal")
    return lines


def _certificates(trust: Path) -> bytes:
    from cryptography import x509

    pem = trust.read_bytes()
    try:
        x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise SpecError(f"{trust.name} holds no PEM certificates", field="--trust") from None
    return pem


def _whole(lines: "Sequence[SealLine]") -> "tuple[dict[int, SealLine], list[dict[str, Any]]]":
    """The lines that have every field, by their number from 1, and what is wrong with the others."""
    from gnomon.core.seal import field_fault

    faults = {number: field_fault(line) for number, line in enumerate(lines, start=1)}
    whole = {number: line for number, line in enumerate(lines, start=1) if not faults[number]}
    what = [f"line {number}: {fault}" for number, fault in faults.items() if fault]
    return whole, [_check(holds=False, what=fault) for fault in what]


def _check(*, holds: bool, what: str) -> dict[str, Any]:
    return {"holds": holds, "what": what}


def _chain(lines: "Sequence[SealLine]") -> Iterator[dict[str, Any]]:
    from gnomon.core.seal import chain_faults, field_fault

    faults = list(chain_faults(lines))
    for fault in faults:
        yield _check(holds=False, what=fault)
    if not faults and not field_fault(lines[0]):
        yield _check(holds=True, what=f"{len(lines)} lines follow each other; {_first(lines[0])}")


def _first(line: "SealLine") -> str:
    body, name = line.body, f"SHA-256 {line.sha256}"
    if line.kind not in ("planned", "imported"):
        return f"no plan was sealed; {line.kind} {body['at']}, {name}"
    size = f"{body['trials']:,} trials of {body['samples']:,} samples"
    return f"{line.kind} {body['at']}, {size}, {name}"


def _signatures(lines: "Mapping[int, SealLine]", trusted: bytes) -> Iterator[dict[str, Any]]:
    from gnomon.time_stamps import Unsigned, signature_fault, signed_time

    by_hash = {line.sha256: line for line in lines.values()}
    for number, line in lines.items():
        if line.kind != "time":
            continue
        body = line.body
        signed = by_hash.get(body["of"])
        if signed is None:
            yield _check(holds=False, what=f"line {number} signs a line that is not here")
            continue
        try:
            reply = base64.b64decode(body["reply"], validate=True)
            at = signed_time(reply, signed)
        except (Unsigned, ValueError) as error:
            yield _check(holds=False, what=f"line {number}: {error}")
            continue
        fault = signature_fault(reply, signed, trusted=trusted) if trusted else ""
        signature = fault or ("its signature holds" if trusted else "signature not checked: name --trust")
        what = f"{signed.kind} was there on {at}, says {body['authority']}; {signature}"
        yield _check(holds=not fault, what=what)


def _results(lines: "Sequence[SealLine]", rows: Path) -> dict[str, Any]:
    ends = [line.body for line in lines if line.kind == "results"]
    if not ends:
        return _check(holds=False, what="no results are sealed yet")
    sealed = ends[-1]
    written = rows.read_text(encoding="ascii", errors="replace").splitlines()
    holds = sealed["rows_sha256"] in (_digest(written), _digest(_as_sealed(written, sealed["columns"])))
    here = f"the {len(written):,} rows of {rows.name}"
    known = f"the {sealed['rows']:,} sealed on {sealed['at']}"
    return _check(holds=holds, what=f"{here} are {known}" if holds else f"{here} are not {known}")


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _as_sealed(lines: Iterable[str], columns: Sequence[str]) -> Iterator[str]:
    """The rows with the columns that there were when they were sealed: later versions may write more."""
    for line in lines:
        row = json_value(line)
        yield (
            json.dumps({name: row[name] for name in columns if isinstance(name, str) and name in row})
            if isinstance(row, dict)
            else line
        )
