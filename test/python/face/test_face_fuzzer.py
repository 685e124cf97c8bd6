"""Random arguments for the Python face, for a few seconds; by hand longer (`face_fuzzer.py`)."""

import os

import face_fuzzer


def test_random_arguments_give_results_or_typed_errors():
    first = int(os.environ.get("TC_FUZZ_SEED", 1))
    finds, ran = face_fuzzer.fuzz(first, 400, float(os.environ.get("TC_FUZZ_SECONDS", 40)))
    assert not finds, f"from seed {first}: " + "\n".join(finds)
    assert ran > 0
