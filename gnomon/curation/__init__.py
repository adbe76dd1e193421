"""Curation: from the rows of finished jobs to question files in a published layout."""
