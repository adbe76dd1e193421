"""Python is parsed on any thread, also where others parse at the same moment."""

import ast
import sys
import threading

import pytest

from gnomon_tools.core import python_source

SOURCE = "\n".join(f"call_{number}(first=[{number}, {{'a': ({number},)}}])" for number in range(60))


class _Cycle:
    """Is collected in the middle of a parse, and lets another thread run then."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        for _ in range(200):
            pass


@pytest.fixture
def threads_change_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("threads_change_often")
def test_threads_that_parse_at_the_same_moment_all_get_their_trees():
    trees = []

    def parse_below(frames):
        if frames:
            parse_below(frames - 1)
            return
        for _ in range(20):
            for _ in range(30):
                _Cycle()
            trees.append(ast.dump(python_source.parse(SOURCE)))

    threads = [threading.Thread(target=parse_below, args=(frames,)) for frames in (1, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trees == [ast.dump(ast.parse(SOURCE))] * 40
