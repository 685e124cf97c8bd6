"""Suites of programs that others have published, as comprehensions: what each computes is written anew from its description."""
