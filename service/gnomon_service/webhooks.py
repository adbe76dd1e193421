"""Sends notices to the operator's webhooks: signed as Standard Webhooks are, or in the form of Slack.

Only the addresses of GNOMON_WEBHOOKS are called, whatever a job says, and no redirect is followed.
"""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from gnomon.core.errors import SpecError

WEBHOOKS, SECRET = "GNOMON_WEBHOOKS", "GNOMON_WEBHOOK_SECRET"
SLACK = "slack:"
TIMEOUT_S = 10.0
AGAIN_S = (5.0, 30.0, 120.0, 600.0, 3_600.0, 10_800.0, 21_600.0, 43_200.0)  # 22 hours in all, then no more
MAY_WORK_LATER = (408, 409, 425, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An address that is told what becomes of jobs. It is a secret, so it is known by its digest."""

    url: str = field(repr=False)
    is_slack: bool = False

    @property
    def target(self) -> str:
        return hashlib.sha256(self.url.encode()).hexdigest()[:16]

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """The operator's webhooks by target, and the secret that signs what is sent."""

    by_target: Mapping[str, Webhook] = field(default_factory=dict)
    secret: bytes = field(default=b"", repr=False)


def read_webhooks(environ: Mapping[str, str]) -> Webhooks:
    """Read GNOMON_WEBHOOKS, addresses separated by spaces, and the secret that signs what is sent to them.

    >>> hooks = read_webhooks({"GNOMON_WEBHOOKS": "slack:https://hooks.slack.com/services/T/B/X"})
    >>> [(hook.host, hook.is_slack) for hook in hooks.by_target.values()]
    [('hooks.slack.com', True)]

    Raises:
        SpecError: one is no address, or there is no secret to sign with; no address is repeated.
    """
    hooks = []
    for number, entry in enumerate(environ.get(WEBHOOKS, "").split(), start=1):
        hook = Webhook(url=entry.removeprefix(SLACK), is_slack=entry.startswith(SLACK))
        if not re.match(r"https?://[^\s/]", hook.url) or not hook.host:
            message = (
                f"entry {number} is no address; allowed: https://… and slack:https://…, separated by spaces"
            )
            raise SpecError(message, field=WEBHOOKS)
        hooks.append(hook)
    text = environ.get(SECRET, "")
    try:
        is_encoded = text.startswith("whsec_")
        secret = base64.b64decode(text[6:], validate=True) if is_encoded else text.encode()
    except ValueError:
        secret = b""
    if (text or any(not hook.is_slack for hook in hooks)) and len(secret) < 16:
        message = f"{WEBHOOKS} needs a secret of 16 or more characters, or whsec_ and base64"
        raise SpecError(message, field=SECRET)
    return Webhooks(by_target={hook.target: hook for hook in hooks}, secret=secret)


def signature(secret: bytes, message_id: str, at_s: int, body: bytes) -> str:
    """The value of `webhook-signature`, as https://www.standardwebhooks.com has it."""
    digest = hmac.new(secret, b"%b.%d.%b" % (message_id.encode(), at_s, body), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def send(hook: Webhook, secret: bytes, message_id: str, body: Mapping[str, Any]) -> tuple[str, bool, bool]:
    """Send a notice: what was said, whether it was taken, and whether it may be where it was not."""
    import httpx  # late: few services have a webhook

    headers = {"Content-Type": "application/json", "User-Agent": "Gnomon"}
    content = json.dumps({"text": body["data"]["text"]} if hook.is_slack else body).encode()
    if not hook.is_slack:
        at_s = int(time.time())
        headers |= {
            "webhook-id": message_id,
            "webhook-timestamp": str(at_s),
            "webhook-signature": signature(secret, message_id, at_s, content),
        }
    try:
        with httpx.stream(
            "POST", hook.url, content=content, headers=headers, timeout=TIMEOUT_S, follow_redirects=False
        ) as reply:  # its body is not read
            status = reply.status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return type(error).__name__, False, True
    return str(status), 200 <= status < 300, status >= 500 or status in MAY_WORK_LATER
