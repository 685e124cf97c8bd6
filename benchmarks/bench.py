"""Measures the compiler on this machine beside its peers and the machine's own limits; see benchmarks/README.md.

make bench ARGS="--quick"
.venv/bin/python benchmarks/bench.py --cases 'conv*' --threads 1
"""

from suite.cli import main

if __name__ == "__main__":
    main()
