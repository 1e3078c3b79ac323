"""Errors when samples of low quality are discarded."""
