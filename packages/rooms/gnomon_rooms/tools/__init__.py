"""Tools on the boxes of a scene, one module each."""
