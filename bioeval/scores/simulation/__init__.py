"""Populations with known truth, to teach with, to test with and to measure speed on."""
