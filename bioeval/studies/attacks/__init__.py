"""Presentation attacks: vulnerability, detection and morphing."""
