"""Doubts about data, before an evaluation: labels, copies, failures."""
