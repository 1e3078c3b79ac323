"""Typed documents: what a study says of its results, before a writer makes text of it."""
