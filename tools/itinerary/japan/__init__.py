"""Japan out of the embedded gazetteer: areas, stations, and an estimate of times by rail."""
