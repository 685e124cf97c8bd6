"""The benchmark suite: cases, limits of the machine, peers, measuring, acceptance, report; benchmarks/bench.py runs it."""
