"""Ranked lists of the nearest K, as searches and re-identification save them."""
