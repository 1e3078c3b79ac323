"""Other programs and bioeval on the same data: their figures, ours, the difference, and why.

``scripts/peers/run`` makes an environment for each program, runs it, and prints tables of
Markdown; ``docs/coming-from.md`` has their figures. Nothing of it runs with the tests: it needs a
network, and some gigabytes for PyTorch.

A program has one module, whose first lines name the packages that are installed for it. A program
that the package index does not have is run from a clone of its repository.
"""
