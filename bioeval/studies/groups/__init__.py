"""Rates by group of people, or by condition."""
