"""`gnomon new`: writes a small package for a plug-in. `write.py` fills in the texts beside it."""
