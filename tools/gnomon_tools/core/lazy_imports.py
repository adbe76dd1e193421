"""Loads what modules import late, once, in a process that forks.

What a module imports only within its functions it names in LAZY: so a list of tools need not wait for it, and
a worker loads it before it forks, once for all shards of a job.
"""

import importlib
import sys

OURS = "gnomon"


def load_lazy() -> None:
    """Import what those of our modules that are loaded name in their LAZY."""
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS):
            for late in getattr(module, "LAZY", ()):
                importlib.import_module(late)
