"""Reads what a reply gives as its answer: letters, numbers, angles, points, dates, times and lists."""
