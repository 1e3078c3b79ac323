"""Integer counts that merge, the sweeps that fill them, and operating points from counts."""
