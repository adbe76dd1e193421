"""What is derived from a scene lives as long as the scene."""

import gc
import weakref

from gnomon_tools.geometry.network import Network
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from gnomon_tools.scene.scene_cache import cached_per_scene


def test_it_is_derived_once():
    asked: list[str] = []
    name = cached_per_scene(lambda scene: asked.append(scene.id) or scene.id)
    scene = Scene(id="s", frame=Frame(), kind="outdoor")
    assert [name(scene), name(scene), asked] == ["s", "s", ["s"]]


def test_it_is_forgotten_with_the_scene():
    scene = Scene(id="s", frame=Frame(), kind="outdoor")
    network = weakref.ref(Network.of(scene))
    del scene
    gc.collect()
    assert network() is None
