"""Tunes and tells what it gains: default, constructed by price, tuned and torch in turns, and genetic against random search.

.venv/bin/python benchmarks/tune.py                                   # everything: 10 + 14 minutes on two cores
.venv/bin/python benchmarks/tune.py --part gains --budget 60
.venv/bin/python benchmarks/tune.py --part methods --method-budget 15 --seeds 3
.venv/bin/python benchmarks/tune.py --part gains --cases 'norms/*' --budget 10 --result build/bench/tuning.json

The result is written after each tuning, as JSON and as a page beside it; started again with the same file, the command goes on
where it stopped.
"""

import os

os.environ.setdefault("TC_CACHE_MODE", "off")

from suite.tuning import main

if __name__ == "__main__":
    main()
