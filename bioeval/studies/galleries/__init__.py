"""Galleries of other sizes, and with fewer templates of each subject."""
