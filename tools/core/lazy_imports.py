"""Late: what a module imports only when it is used, so that whoever lists the tools need not wait for it.

Such a module names it in LATE; a worker loads it before it forks, once for all shards of a job.
"""

import importlib
import sys


def load_lazy() -> None:
    """Import what the modules loaded so far name in their LATE."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("tools.", "gnomon.")):
            for late in getattr(module, "LATE", ()):
                importlib.import_module(late)
