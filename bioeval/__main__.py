"""``python -m bioeval`` is ``bioeval``."""

import sys

from bioeval.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
