"""A real server that speaks the S3 protocol, out of the rclone wheel."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEYS = ("GNOMONTESTS", "a-secret-of-the-tests")
PATIENCE_S = 20.0


@contextmanager
def s3_server(folder: Path, port: int) -> Iterator[None]:
    """A server whose buckets are the folders in `folder`."""
    program = Path(sys.executable).with_name("rclone")
    keys = ",".join(KEYS)
    command = [program, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", keys, folder]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    try:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until, "the server does not start"
                time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait()
