"""Rates of several tries at a claim."""
