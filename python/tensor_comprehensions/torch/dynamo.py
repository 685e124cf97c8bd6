"""`torch.compile(model, backend="tc")`.

    Dynamo's graph -- AOTAutograd --> core ATen graphs -- partition --> parts of tc, the rest of torch

Nothing here raises for a model that torch can run: what is not taken, or fails to compile, runs in torch.
"""

import warnings
from typing import Dict

from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func

from .. import _core
from ..options import Options
from .compile_graph import compile_graph, static_inputs
from .compiler import Compiler
from .decompositions import decompositions
from .recording import Recording, forget_recordings, recorded
from .recurrent import run_along_time
from .report import log
from .roll import roll_loops
from .specialise import has_symbols
from .symbolic_graphs import ForAllSizes
from .updates import updated_inputs
from .values import Decline


def _compiler_of(kind, compiler, recording, tensors=()):
    """What AOTAutograd calls for each graph of a module whose inputs Dynamo gave as `tensors`; it is recorded where `recording` is not None."""

    def compile_it(module, example_inputs):
        if has_symbols(module):
            return make_boxed_func(ForAllSizes(module, kind, compiler))
        static = static_inputs(example_inputs, tensors) if compiler.freeze and kind == "inference" else {}
        updated = updated_inputs(example_inputs) if kind == "inference" and recording is None else {}
        try:
            run, report = compile_graph(module, kind, compiler, static, updated=updated)
        except Exception as error:  # a model must not break
            warnings.warn(f"tc does not take a graph, it runs in torch: {type(error).__name__}: {error}", stacklevel=2)
            log.debug("not taken", exc_info=True)
            return make_boxed_func(module.forward)
        if recording is not None:
            try:
                return recorded(run, module, example_inputs, kind, recording, report.executables)
            except Exception as error:  # torch's functions for it are private ones, which may change
                report.not_recorded = str(error) if isinstance(error, Decline) else f"{type(error).__name__}: {error}"
                log.info("a %s graph is not recorded: %s", kind, report.not_recorded)
        return make_boxed_func(run)

    return compile_it


_OF_COMPILE = ("target", "options", "cache", "libraries", "layouts", "derive", "time_limit", "memory_limit", "fold_scales")
_OWN = ("freeze", "specialise_seconds", "cuda_graphs")


def backend(module, example_inputs, mode=None, options=None, **unknown):
    """The backend "tc" of torch.compile.

    `options` are those of `tc.compile`: target, options, cache, libraries, layouts, derive, time_limit, memory_limit; and "freeze": in inference,
    parameters are constants, "fold_scales" (then on): with norms folded into weights; "specialise_seconds": how long a graph with
    symbolic sizes is compiled for the sizes that it meets, see docs/models.md; "cuda_graphs": on a GPU, calls are recorded and replayed, which
    the mode "reduce-overhead" means too.
    """
    options = dict(options or {})
    wrong = [*(set(options) - {*_OF_COMPILE, *_OWN}), *unknown]
    if wrong or mode not in (None, "default", "reduce-overhead"):
        raise _core.OptionsError(
            f"the backend tc has no {', '.join(map(repr, wrong)) or f'mode {mode!r}'}; options: {', '.join((*_OF_COMPILE, *_OWN))}"
        )
    recording = Recording() if options.pop("cuda_graphs", False) or mode == "reduce-overhead" else None
    compiler = _shared_compiler(options)
    run_along_time(module)
    roll_loops(module)
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    return aot_autograd(
        fw_compiler=_compiler_of("forward", compiler, recording),
        bw_compiler=_compiler_of("backward", compiler, recording),
        inference_compiler=_compiler_of("inference", compiler, recording, example_inputs),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=False,
    )(module, example_inputs)


_compilers: Dict[tuple, Compiler] = {}


def _shared_compiler(options):
    key = tuple(sorted((k, str(v)) for k, v in options.items()))
    if key not in _compilers:
        how = Options(**{"fold_scales": True, **{name: options.pop(name) for name in _OF_COMPILE if name in options}})
        compiler = Compiler(how, **options)
        compiler.check_options()
        _compilers.setdefault(key, compiler)
    return _compilers[key]


def _reset():
    """Called by torch._dynamo.reset()."""
    _compilers.clear()
    forget_recordings()


backend.reset = _reset  # type: ignore[attr-defined]
