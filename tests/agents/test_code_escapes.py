"""Code that tries to leave the interpreter finds no way; the process around it has none either."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon_agents.code_runtime import interpreter
from gnomon_agents.code_runtime.interpreter import Interpreter
from gnomon_tools.core import sandboxed

SECRET = "gnomon-secret-7613"


@pytest.fixture
def secret(tmp_path, monkeypatch):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    monkeypatch.setenv("GNOMON_TEST_SECRET", SECRET)
    return path


@pytest.fixture
async def python():
    async def echo(name, args, kwargs):
        return {"said": args[0]}

    running = Interpreter({"echo"}, echo, seed=1)
    yield running
    await running.close()


ATTEMPTS = {
    "read a file": "open({path!r}).read()",
    "read a file by pathlib": "import pathlib\npathlib.Path({path!r}).read_text()",
    "list a folder": "import os\nos.listdir({folder!r})",
    "list a folder by pathlib": "import pathlib\nlist(pathlib.Path({folder!r}).iterdir())",
    "write a file": "open({path!r}, 'w').write('gone')",
    "delete a file": "import pathlib\npathlib.Path({path!r}).unlink()",
    "read the environment": "import os\nos.getenv('GNOMON_TEST_SECRET') or os.environ['GNOMON_TEST_SECRET']",
    "environment of a process": "open('/proc/self/environ').read()",
    "memory of a process": "open('/proc/self/mem', 'rb').read(10)",
    "parent's environment": "open('/proc/{pid}/environ').read()",
    "run a command": "import os\nos.system('cat {path}')",
    "run a command by subprocess": "import subprocess\nsubprocess.run(['cat', {path!r}])",
    "fork": "import os\nos.fork()",
    "a socket": "import socket\nsocket.create_connection(('127.0.0.1', 22))",
    "http": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')",
    "foreign functions": "import ctypes\nctypes.CDLL(None)",
    "threads": "import threading\nthreading.Thread(target=print).start()",
    "import by name": "__import__('subprocess')",
    "importlib": "import importlib\nimportlib.import_module('subprocess')",
    "our modules": "import gnomon.core.arm",
    "subclasses of object": "().__class__.__base__.__subclasses__()",
    "globals of a function": "(lambda: 0).__globals__",
    "globals of a tool": "echo.__globals__",
    "code of a tool": "echo.__code__",
    "self of a tool": "echo.__self__",
    "builtins": "__builtins__['open']({path!r}).read()",
    "frames": "import sys\nsys._getframe().f_back.f_globals",
    "frames of an error": "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_globals",
    "format strings": "'{{0.__class__.__mro__}}'.format(echo)",
    "modules loaded": "import sys\nsys.modules['os'].system('true')",
    "eval": 'eval("open({path!r}).read()")',
    "exec": 'exec("open({path!r}).read()")',
    "compile": "eval(compile('__import__(\"os\")', 'x', 'eval'))",
    "getattr": "getattr(getattr((), '__class__'), '__mro__')[1].__subclasses__()",
    "pickle": "import pickle\npickle.loads(b'cos\\nsystem\\n(S\"true\"\\ntR.')",
    "signals": "import os\nos.kill(os.getppid(), 9)",
    "standard input": "input()",
    "debugger": "breakpoint()",
    "the end": "import os\nos._exit(0)",
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_code_finds_no_way_out(attempt, python, secret):
    text = ATTEMPTS[attempt].format(path=str(secret), folder=str(secret.parent), pid=os.getpid())
    run = await python.run(text)
    assert run.error, run
    assert SECRET not in json.dumps([run.value, run.printed, run.error])
    assert secret.read_text() == SECRET
    assert (await python.run("1 + 1")).value == "2"  # nothing was broken either


HOGS = {
    "deep recursion": "def f(n):\n    return f(n + 1)\nf(0)",
    "deep nesting": f"x = {'(' * 5000}1{')' * 5000}",
    "deep lists": "x = []\nfor _ in range(10**6):\n    x = [x]\nrepr(x)",
    "a large power": "10 ** 10 ** 10",
    "a large string": "'a' * 10 ** 10",
    "doubling": "x = [1]\nwhile True:\n    x = x + x",
    "a patient pattern": "import re\nre.match(r'(a+)+(b)\\2$', 'a' * 40 + 'b')",
    "endless names": "while True:\n    try:\n        missing()\n    except NameError:\n        pass",
    "endless printing": "while True:\n    print('a' * 1000)",
    "a long iterator": "import itertools\nsum(1 for _ in itertools.count())",
}


@pytest.mark.parametrize("hog", HOGS)
async def test_code_that_takes_too_much_is_stopped(hog, python, monkeypatch):
    monkeypatch.setattr(interpreter, "RUN_SECONDS", 0.2)
    monkeypatch.setattr(interpreter, "MAX_STOPS", 200)
    run = await python.run(HOGS[hog])
    assert run.error, run
    assert len(run.printed) < 2 * interpreter.MAX_SHOWN
    assert (await python.run("1 + 1")).value == "2"


PROBES = {
    "open": "open('/etc/hostname').read()",
    "write": "open('/tmp/gnomon-probe', 'w')",
    "list": "__import__('os').listdir('/etc')",
    "socket": "__import__('_socket').socket()",
    "fork": "__import__('os').fork()",
    "look into another process": "__import__('os').pidfd_open(__import__('os').getppid())",
    "run a program": "__import__('os').execv('/bin/true', ['true'])",
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has Landlock and seccomp")
@pytest.mark.parametrize("probe", PROBES)
def test_the_process_could_not_do_it_even_if_the_code_could(probe, tmp_path):
    """CPython in the interpreter's place: it starts, and the kernel refuses it the rest."""
    text = f"try:\n    {PROBES[probe]}\nexcept OSError as error:\n    print('refused', error.errno)"
    binary = os.path.realpath(sys.executable)
    plan = interpreter.plan_for(Path(binary))
    # The libraries of this CPython lie where the interpreter's do not: they are allowed for the probe alone.
    plan["read"].append(f"{sys.base_prefix}/lib")
    command = [sys.executable, "-IS", sandboxed.__file__, json.dumps(plan), binary, "-ISc", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused"), done


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has Landlock and seccomp")
async def test_the_kernel_holds_the_interpreter_and_its_environment_is_empty(python):
    await python.run("1")
    assert python.is_confined
    proc = Path(f"/proc/{python._session.worker_pid}")
    environment, status = (proc / "environ").read_bytes(), (proc / "status").read_text()
    assert environment == b""
    assert "NoNewPrivs:\t1" in status


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a filter")
def test_the_filter_jumps_to_lines_that_are_there():
    for audit, clone, refused in sandboxed.REFUSED.values():
        lines = sandboxed.seccomp_filter(audit, clone, refused)
        for place, (_, if_true, if_false, _) in enumerate(lines):
            assert place + max(if_true, if_false) < len(lines)
        assert lines[-1][3] == 0x7FFF0000


@pytest.mark.parametrize("code", ["10 ** 5000", "[10 ** 5000]", "final_answer(10 ** 5000)"])
async def test_a_number_that_python_does_not_write_out_ends_nothing(code, python):
    run = await python.run(code)
    assert "digits" in f"{run.value}{run.final}{run.error}"
    assert (await python.run("1 + 1")).value == "2"
