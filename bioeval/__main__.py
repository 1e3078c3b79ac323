"""``python -m bioeval`` is ``bioeval``."""

import sys

from bioeval.cli import main

if __name__ == "__main__":
    sys.exit(main())
