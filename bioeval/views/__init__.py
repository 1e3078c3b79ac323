"""Views of results: tables and plots."""
