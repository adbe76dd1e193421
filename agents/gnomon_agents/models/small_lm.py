"""Serves a small language model that calls tools, on the loopback.

    python -m gnomon_agents.models.small_lm qwen-0.5b --port 8805

serves Qwen2.5-Coder-Instruct of 0.5 or 1.5 billion weights, or any GGUF file, by llama.cpp's server. A spec:

    models: [{id: openai/qwen-0.5b, api_base: http://127.0.0.1:8805/v1}]

docs/small-models.md says what to expect of them.
"""

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError

TEMPLATE = Path(__file__).with_name("small_lm.jinja")
CACHE_MIB = 512  # prompts of several arms, so that each finds its own beginning again


def weights_path(name: str) -> Path:
    """Where the weights of a model lie that `scripts/fetch_weights.py` has fetched."""
    return Path(sys.prefix) / "share" / "gnomon" / f"{name}.gguf"


def serve(model: str, *, port: int, threads: int, context_tokens: int) -> Any:
    """Start the server on the loopback, and return it; it lives as long as the object.

    `model` is the name of a fetched model, or a GGUF file, which keeps its own chat template. Port 0 is any
    free one; `listening_address` of the result tells which.

    Raises:
        DataError: llama.cpp or the weights are not installed, or it cannot start: the port is taken.
    """
    try:
        import xllamacpp
    except ImportError:
        raise DataError("llama.cpp is not installed: pip install -e '.[lm]'") from None
    is_file = model.endswith(".gguf")
    weights = Path(model) if is_file else weights_path(model)
    if not weights.is_file():
        fetch = "no such file" if is_file else f"python scripts/fetch_weights.py {model} fetches them"
        raise DataError(f"the weights of {model} are not there: {fetch}")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {weights.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = CACHE_MIB
    params.no_extra_bufts = True  # weights as they are: repacked, prompts are read slower
    params.use_jinja = True
    if not is_file:
        params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise DataError(f"llama.cpp could not serve {weights} at port {port}: {error}") from None


def main(argv: list[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m gnomon_agents.models.small_lm", description=__doc__)
    parser.add_argument("model", help="qwen-0.5b, qwen-1.5b or a GGUF file")
    parser.add_argument("--port", type=int, default=8805)
    parser.add_argument("--threads", type=int, default=1, help="two on busy cores are slower than one")
    parser.add_argument("--context", type=int, default=16384, help="tokens of prompt and reply")
    options = parser.parse_args(argv)
    stops = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # the server's threads are to inherit it
    try:
        server = serve(
            options.model, port=options.port, threads=options.threads, context_tokens=options.context
        )
        sys.stdout.write(f"serving at {server.listening_address}/v1\n")
        sys.stdout.flush()
        signal.sigwait(stops)
    except DataError as error:
        raise SystemExit(str(error)) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


if __name__ == "__main__":
    main()
