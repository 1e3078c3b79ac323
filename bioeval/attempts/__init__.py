"""Integer counts that merge, the passes that fill them, and operating points from counts."""
