"""The command `gnomon itinerary`."""
