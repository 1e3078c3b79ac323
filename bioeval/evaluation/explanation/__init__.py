"""One row of scores, explained as in the lecture: roles, counters, and why others are left out."""
