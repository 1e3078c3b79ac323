"""Placeholder."""
class PairMeter: pass
