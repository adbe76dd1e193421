"""Imports what modules import only when it is used, at a time that suits a worker.

Such a module names it in LAZY; a worker loads it before it forks, once for all shards of a job.
"""

import importlib
import sys


def load_lazy() -> None:
    """Import what the modules loaded so far name in their LAZY."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("tools.", "gnomon.")):
            for late in getattr(module, "LAZY", ()):
                importlib.import_module(late)
