"""Providers of places and ways over HTTP; used only when they are configured."""
