"""Versions of the words that guarded prompts and agents use; a job keeps those that it began with.

Version 1 asks for the answer "on a last line"; real models then call no tool natively. Version 2 was chosen
by trials with real models, see docs/wording.md.
"""

from typing import Literal

WordsVersion = Literal[1, 2]
FIRST_WORDS: WordsVersion = 1  # of jobs that do not say
LATEST_WORDS: WordsVersion = 2
