"""Rates by demographic group, and how alike two systems treat groups."""
