"""What every plug-in must keep, as checks that a test runs: `checks(my_tool)`.

```python
import pytest
from gnomon_conformance import checks
from my_tool import my_tool

@pytest.mark.parametrize("check", checks(my_tool), ids=str)
def test_conformance(check):
    check()
```

Gnomon's own tools, benchmarks, agents and presets are held to the same checks. docs/plugins.md lists them.
"""

from gnomon_conformance.check import Check, NotKept
from gnomon_conformance.kinds import checks

__all__ = ["Check", "NotKept", "checks"]
