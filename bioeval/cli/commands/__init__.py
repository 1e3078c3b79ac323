"""One file a command; heavy imports are inside the commands."""
