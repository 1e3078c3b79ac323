"""Writers: one typed document as a terminal's table, HTML, LaTeX, Markdown and data."""
