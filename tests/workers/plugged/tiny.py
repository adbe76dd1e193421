"""The tiny benchmark, where the registry of benchmarks finds it once this folder is on its path."""

from tests.workers.tiny_worker import Tiny

tiny = Tiny()
