"""Choosing a threshold, and what to expect of it on new people."""
