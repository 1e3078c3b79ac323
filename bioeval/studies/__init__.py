"""One folder for each study: its call, its counts and results, and what a reader is shown."""
