"""Gazetteer: Japan's prefectures, municipalities, towns and railway stations, embedded."""
