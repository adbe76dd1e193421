"""The web page: jobs, questions, traces and trips to look at, rendered on the server.

Start at `pages.py`, which turns what a handler returns into HTML, JSON or Markdown, and at `home.py`.
"""
