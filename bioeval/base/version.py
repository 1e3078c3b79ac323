"""The version, in the one place that the package and its metadata read it from."""

__version__ = "0.2.0"
