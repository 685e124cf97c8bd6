"""Random arguments for the Python face, for a few seconds; by hand longer (`face_fuzzer.py`)."""

import os

import face_fuzzer

LIMITS = (10**9, float(os.environ["TC_FACE_SECONDS"])) if "TC_FACE_SECONDS" in os.environ else (400, 40.0)
"""Cases and seconds."""


def test_random_arguments_give_results_or_typed_errors():
    first = int(os.environ.get("TC_FUZZ_SEED", 1))
    finds, ran = face_fuzzer.fuzz(first, *LIMITS)
    assert not finds, f"from seed {first}: " + "\n".join(finds)
    assert ran > 0
