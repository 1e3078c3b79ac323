"""The version, in the one place that the package and its metadata read it from."""

__version__ = "1.0.0rc1"
