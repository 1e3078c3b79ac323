"""Galleries of fewer subjects."""
