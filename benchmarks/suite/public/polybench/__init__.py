"""PolyBench's thirty kernels: what each computes, in comprehensions and loops, with float64 as the suite has it."""

from . import algebra, medley, solvers, stencils


def programs():
    return [*algebra.PROGRAMS, *solvers.PROGRAMS, *medley.PROGRAMS, *stencils.PROGRAMS]
