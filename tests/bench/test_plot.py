"""Each system that is measured has its bar in the picture."""

import xml.etree.ElementTree as ET

from bench.performance.plot import COLOURS, svg
from bench.performance.systems import Cell, Setting, systems


def test_each_system_has_a_bar() -> None:
    names = [system.name for system in systems("redis://nowhere", with_inspect=False)] + ["inspect-ai"]
    assert set(COLOURS) == set(names)
    cells = [
        Cell(
            system=name,
            setting=Setting(in_flight=20, latency_ms=0),
            trials=100,
            cpu_ms=(1.0, 2.0),
            efficiency=(1.0, 1.0),
            idle_mb=1,
            peak_mb=2,
            load=(0.0,),
        )
        for name in names
    ]
    texts = [
        text.text
        for text in ET.fromstring(svg(cells, title="a run")).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert set(names) <= set(texts)
