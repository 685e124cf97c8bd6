"""The benchmark suite: cases, limits of the machine, peers, measuring, acceptance, report. Run by benchmarks/bench.py."""
