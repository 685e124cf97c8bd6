"""Tests and benchmarks on a machine with a GPU; `benchmarks/gpu.sh` is their face."""
