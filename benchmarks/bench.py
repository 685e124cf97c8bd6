"""Measures the compiler on this machine beside its peers and the machine's own limits; see benchmarks/README.md.

make bench ARGS="--quick"
.venv/bin/python benchmarks/bench.py --cases 'conv*' --threads 1
"""

import os

from suite.cli import main

# Compiles are compiles. A user's own choice stands.
os.environ.setdefault("TC_CACHE_MODE", "off")

if __name__ == "__main__":
    main()
