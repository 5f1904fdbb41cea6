"""Rendering of results: text, pages, figures."""
