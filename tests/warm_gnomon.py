"""The command `gnomon`, warm: a process that has imported what commands use, and forks for each of them.

For tests that run many commands and are not about the start of one. `warm_gnomon` gives a PATH whose
`gnomon` behaves as the installed one: same arguments, folder, environment, pipes, signals and exit code. It
hands them to the process over a socket and waits: its own start costs a hundredth of what the imports cost.
`gnomon worker` is no command for it, as that becomes another program.
"""

import gc
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from PIL import Image

from gnomon.parent_death import die_with_parent

ROOT = Path(__file__).parents[1]
# What commands import that do more than look something up, and what their workers import. Each fork that
# would import it anew costs a second.
MODULES = (
    "gnomon_agents.code",
    "gnomon_agents.direct",
    "gnomon_agents.models.catalog",
    "gnomon_agents.react",
    "gnomon_agents.text_react",
    "av",
    "gnomon_analyses.audit.audit",
    "gnomon_analyses.paper.methods_text",
    "gnomon_published.benchmarks.gtr_bench.benchmark",
    "gnomon_published.benchmarks.gtr_bench.loader",
    "gnomon_published.benchmarks.gtr_bench.question_view",
    "gnomon.benchmarks.questions",
    "gnomon_worlds.benchmarks.worlds",
    "gnomon_worlds.benchmarks.worlds.question_view",
    "gnomon.report.html",
    "gnomon.report.terminal",
    "mcp",
    "networkx",
    "rich.table",
    "scipy.stats",
    "gnomon_service.cli.commands.plan",
    "gnomon_service.cli.commands.run",
    "gnomon_service.cli.progress",
    "gnomon_service.report_samples",
    "gnomon_service.reports",
    "gnomon_service.run_job",
    "gnomon_service.stored_job",
    "gnomon_service.web.questions",
    "gnomon_workers.__main__",
    "gnomon_workers.shard",
    "gnomon_workers.sweeper",
    "gnomon_workers.worker",
    "yaml",
)
CLIENT = """#!{python} -IS
import json, os, signal, socket, struct, sys
call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [struct.pack("!I", len(call))], [0, 1, 2])
    server.sendall(call)
    (fork,) = struct.unpack("!I", server.recv(4))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(fork, number))
    code = server.recv(1)
os._exit(code[0] if code else 70)
"""


def python_path(root: Path) -> str:
    """The folders in which packages lie that a copy of the project may change, then those of this process."""
    ours = map(str, (root, root / "tools", root / "agents"))
    return os.pathsep.join(filter(None, (*ours, os.environ.get("PYTHONPATH"))))


@contextmanager
def warm_gnomon(folder: Path, *, root: Path = ROOT) -> Iterator[str]:
    """PATH with that `gnomon` on it, and behind it our programs; `folder` is empty. The modules are those
    below `root`.
    """
    address, script = folder / "socket", folder / "bin" / "gnomon"
    path = os.pathsep.join([str(script.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        command = [sys.executable, "-m", "tests.warm_gnomon", str(listener.fileno())]
        server = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PATH": path, "PYTHONPATH": python_path(root)},
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
        )
    script.parent.mkdir()
    script.write_text(CLIENT.format(python=sys.executable, address=str(address)))
    script.chmod(0o755)
    try:
        yield path
    finally:
        server.terminate()
        server.wait()


def _load() -> None:
    """Import what commands import, and compile the report's templates, which takes a second."""
    from gnomon.report.html import environment
    from gnomon.report.section import SECTIONS
    from gnomon.spec.model_spec import ModelSpec
    from gnomon.spec.preset import PRESETS
    from gnomon.trials.condition import CONDITIONS
    from gnomon_agents.models.catalog import preload
    from gnomon_tools.core.toolbox import TOOLS

    for module in MODULES:
        import_module(module)
    for registry in (CONDITIONS, PRESETS, SECTIONS, TOOLS):
        for name in registry.names():
            registry.get(name)
    for name in ("page.html.j2", "sample_card.html.j2", *SECTIONS.names()):
        with suppress(FileNotFoundError):  # a section that is shown within another one
            environment().get_template(name)
    preload([ModelSpec(id="reference")])  # as a worker does before it forks
    Image.init()


def serve(listener: socket.socket) -> None:
    """Fork for every command that a client sends, until this process is ended."""
    from gnomon_service.cli.main import BLAS_THREADS, main

    os.environ[BLAS_THREADS] = "1"
    _load()
    gc.freeze()  # else each fork looks through all that was imported, and copies its pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    end_with_parent = die_with_parent()
    while True:
        client, _ = listener.accept()
        if os.fork():
            client.close()
            continue
        end_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        code = 70
        try:
            _become(client)
            client.sendall(struct.pack("!I", os.getpid()))
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        finally:
            for stream in (sys.stdout, sys.stderr):
                if not stream.closed:
                    stream.flush()
            client.send(bytes([code]))
            os._exit(code)


def _become(client: socket.socket) -> None:
    """Take over what the client was called with, and where its output goes."""
    head, files, _, _ = socket.recv_fds(client, 4, 3)
    (left,) = struct.unpack("!I", head)
    parts = []
    while left:
        parts.append(client.recv(left))
        left -= len(parts[-1])
    arguments, folder, environ = json.loads(b"".join(parts))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["gnomon", *arguments]
    sys.stdout = open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
