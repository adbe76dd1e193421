"""Reads and checks what a time authority (RFC 3161) has signed over a line of a seal."""

from gnomon.core.seal import SealLine


class Unsigned(Exception):
    """The time authority has not signed; the message says why."""


def signed_time(reply: bytes, line: SealLine, *, nonce: int | None = None) -> str:
    """The time in an authority's reply, in ISO 8601; the signature itself is not checked here.

    Raises:
        Unsigned: it is no such reply, or is about another line or request.
    """
    from rfc3161_client import PKIStatus, decode_timestamp_response

    try:
        response = decode_timestamp_response(reply)
        if response.status not in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS):
            raise Unsigned(f"the authority refuses: {PKIStatus(response.status).name.lower()}")
        info = response.tst_info
    except ValueError as error:
        raise Unsigned(f"no time stamp was answered: {error}") from None
    if info.message_imprint.message.hex() != line.sha256:
        raise Unsigned("the authority has signed another text")
    if nonce is not None and info.nonce != nonce:
        raise Unsigned("the authority has answered another request")
    return info.gen_time.isoformat().replace("+00:00", "Z")


def signature_fault(reply: bytes, line: SealLine, *, trusted: bytes) -> str:
    """Why a signature over a line does not hold under these PEM certificates; empty if it does."""
    from cryptography import x509
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    builder = VerifierBuilder()
    for certificate in x509.load_pem_x509_certificates(trusted):
        builder = builder.add_root_certificate(certificate)
    try:
        builder.build().verify_message(decode_timestamp_response(reply), line.text.encode())
    except (VerificationError, ValueError, x509.InvalidVersion) as error:
        return str(error)
    return ""
