"""One row of scores, walked as the lecture does: roles, counters, and why others are left out."""
