"""Answers map questions by rules, for the reference model: a demonstration, made on 129 of MapEval."""
