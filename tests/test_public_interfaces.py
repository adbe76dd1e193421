"""Our code uses public names of other packages, sets nothing on them, and imports only what is declared."""

import ast

from tests.sources import MODULES, ROOT, Module, source_of


def found(what: str) -> dict[str, frozenset[str]]:
    """What there is of it in our modules, by their paths."""
    there = {path.relative_to(ROOT).as_posix(): getattr(source_of(path), what) for path in MODULES}
    return {path: names for path, names in there.items() if names}


def test_no_private_name_of_another_package_is_used() -> None:
    assert found("private") == {}


def test_nothing_is_set_on_another_packages_module_or_class() -> None:
    # A plug-in file's module is entered while it runs, as Python's own guide to importing a file has it.
    assert found("set_on_others") == {"tools/gnomon_tools/core/outside.py": {"sys.modules[…]"}}


def test_what_is_imported_is_declared() -> None:
    assert found("undeclared") == {}


PRIVATE = """
from mcp.client._transport import TransportStreams
from rq import Worker
import numpy as np

class Own(Worker):
    def stop(self):
        self._horse_pid, self._own = 0, np._core
"""
SET = """
import sys, httpx, json as j
from pydantic import BaseModel
BaseModel.model_config = {}
httpx.Client.send, own = None, 1
setattr(j, "loads", own)
sys.modules["redis"] = None
del httpx.get
own.attribute = 1
"""


def test_each_use_that_is_forbidden_is_found() -> None:
    private = {"mcp.client._transport", "mcp.client._transport.TransportStreams", "numpy._core"}
    assert set(Module(ast.parse(PRIVATE)).private()) == private | {"rq.Worker: self._horse_pid"}
    assert set(Module(ast.parse(SET)).set_on_others()) == {
        *("pydantic.BaseModel.model_config", "httpx.Client.send", "json.…", "sys.modules[…]", "httpx.get"),
    }
    assert set(
        Module(ast.parse("import yarl.x\nimport os, numpy\nfrom gnomon_tools.core import tool")).undeclared()
    ) == {"yarl"}
