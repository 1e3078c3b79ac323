"""The convention behind a published number."""
