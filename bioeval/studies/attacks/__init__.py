"""Presentation attacks: vulnerability and detection."""
