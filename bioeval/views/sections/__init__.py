"""What is said of the results of the core: evaluations, systems side by side, summaries."""
