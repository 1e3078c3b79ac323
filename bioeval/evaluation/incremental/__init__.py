"""Tallies of data that grow and shrink: what is new is compared, what is withdrawn subtracted."""
