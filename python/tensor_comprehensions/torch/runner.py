"""Runs a program as one executable, results where torch wants them.

A program is a def that calls those of its nodes: the compiler decides which become one part. Where it does not take the
whole, defs are compiled one by one, to know which one is at fault: the others are compiled again without it.
"""

import concurrent.futures
import copy
import dataclasses
import os
from types import MappingProxyType

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from .. import _core
from ..given import spec
from .builder import TORCH_DTYPES
from .compiler import Compiler
from .frozen import Frozen
from .places import CPU
from .program import Program
from .report import log
from .sizes import size, symbols_in, values_of
from .specialise import place_of, sizes_of
from .text import declared_first, defs_of, program_text
from .values import Decline, Tensor


class PartFailed(Exception):
    """The compiler did not take a part: `part`, a Def, its specs and the error."""

    def __init__(self, part, specs, error, items):
        super().__init__(str(error))
        self.part, self.specs, self.error, self.items = part, specs, error, items


def _laid_out(tensor, strides, dtype):
    """A copy of `tensor` with other strides; elements that these place on each other are equal, as those of an expanded tensor are."""
    copy = torch.empty_strided(tensor.shape, strides, dtype=dtype, device=tensor.device)
    own = [slice(0, 1) if stride == 0 else slice(None) for stride in strides]
    copy[tuple(own)] = tensor[tuple(own)]
    return copy


ALIGNMENT = 16  # bytes, at multiples of which tensors begin that kernels of a GPU move in vectors
MOST_SPECIALISATIONS = 16  # sizes of one graph, or part of it, that code is made for one by one
MOST_SIZES = 1024  # that are kept of one part with symbolic sizes: of others executables are made anew, without a compile
ALONE = "these sizes alone: "  # how an executable says that its code is not for ranges of sizes
MOST_BINDINGS = 8  # of one part of a model; weights that change more often are taken as inputs again


class _Ways:
    """Which of the symbols `names` of a program are ranges in its code: all, or all but one, of whose values each has code of its own."""

    def __init__(self, names):
        self._names, self._seen = names, {name: set() for name in names}
        self._left = [None, *(names if len(names) > 1 else ())]  # the one that is no range
        self._reason = ""

    def ranges(self, sizes):
        """The ranges of the code for these sizes: all but a symbol that has had the fewest values. Raises Decline for too many."""
        for name, value in sizes.items():
            self._seen[name].add(value)
        count = lambda name: len(self._seen[name]) if name else 0
        self._left.sort(key=count)
        if not self._left or count(self._left[0]) > MOST_SPECIALISATIONS:
            raise Decline(self._reason)
        return tuple(name for name in self._names if name != self._left[0])

    def refuse(self, reason):
        """No code has the ranges that ranges() gave, because of `reason`."""
        self._reason = self._reason or reason
        del self._left[0]


class Runner:
    """A program ready to run: `runner(inputs)` gives the list of its results. Any number of threads may call it.

    `fakes` are the fake tensors of the inputs, whose strides the program is compiled for; `parts` are (Def, items) of its
    nodes, `text` the whole, `launches` what one run starts. The inputs whose numbers are keys of `frozen` are the same tensors in every call, or
    nearly: the executable holds them, those of `frozen`, where all are known, or those of the first call.
    Raises PartFailed for a node that the compiler does not take, _core.Error where it takes each but not the whole.
    """

    def __init__(self, program: Program, fakes, compiler: Compiler, result_fakes, frozen=MappingProxyType({}), device=CPU):
        self.program, self._compiler, self._device = program, compiler, device
        self._target = compiler.target_of(device)
        self._fakes, self._result_fakes = fakes, result_fakes
        self._symbols = symbols_in(n for fake in fakes for n in sizes_of(fake))
        self._ways = _Ways(tuple(map(str, self._symbols))) if self._symbols else None
        self._places = [place_of(symbol, fakes) for symbol in self._symbols]
        self._bound: dict = {}
        with unset_fake_temporarily():
            self._constants = {t: data.detach().to(device) for t, data in program.constants.items()}
        self._elsewhere = {t for t, f in zip(program.inputs, fakes) if t is not None and f.device != device}
        self._meets_any_alignment = False
        self.parts: list = []
        self.launches, self._unbound, self.text = 0, None, ""
        self._reads: list = []
        self._writes: list = []
        self._defs: list = []
        self._plan()
        self._fix(values_of(self._symbols, [s.node.hint for s in self._told(fakes)]))
        self._may_freeze = [(k, t) for k, t, *_ in self._fixed_inputs if k in frozen and t in self._reads]
        self._frozen, self._bindings = None, 0
        self._compile(frozen)

    def _told(self, inputs):
        """The values of the symbols of the program in `inputs`."""
        return tuple(inputs[k] if d is None else inputs[k].shape[d] for k, d in self._places)

    def _fix(self, number):
        """Strides, inputs, outputs and results as they are where `number` gives the sizes."""
        numbers = lambda sizes: tuple(map(number, sizes))
        self._sizes = dict(zip(map(str, self._symbols), numbers(self._told(self._fakes))))
        self._number, program = number, self.program
        given = [(k, t, f) for k, (t, f) in enumerate(zip(program.inputs, self._fakes)) if t is not None]
        self._strides = {t: numbers(f.stride()) for _, t, f in given}
        self._strides |= {t: tuple(data.stride()) for t, data in program.constants.items()}
        self._strides |= {new: self._strides[old] for new, old in program.updates.items()}
        self._fixed_inputs = [(k, t, torch.Size(numbers(f.shape)), numbers(f.stride()), f.dtype) for k, t, f in given]
        self._outputs = [(t, numbers(t.stored_shape), TORCH_DTYPES[t.dtype]) for t in self._writes if t not in program.updates]
        self._results = [self._result_plan(r, f) for r, f in zip(program.results, self._result_fakes)]

    def _for(self, inputs):
        """The runner for the sizes of `inputs`: this one's own where it has no symbols."""
        values = self._told(inputs)
        found = self._bound.get(values)
        if found is None:
            found = copy.copy(self)
            found._fix(values_of(self._symbols, values))
            found._symbols, found._unbound = [], None
            found._compile({})
            if len(self._bound) >= MOST_SIZES:
                self._bound.pop(next(iter(self._bound)))
            self._bound[values] = found
        return found

    # Planning.

    def _plan(self):
        """The text, what it reads and writes, and its defs."""
        arguments = {t for t in [*self.program.inputs, *self.program.constants] if t is not None}
        results = [r for r in self.program.results if r.is_tensor and r.value.tensor not in arguments]
        made = dataclasses.replace(self.program, results=results)
        self._defs = defs_of(made)
        if not self._defs:
            return
        read = {t for d in self._defs for t in d.params}
        made.inputs = declared_first([t for t in made.inputs if t in read])
        made.constants = {t: data for t, data in made.constants.items() if t in read}
        self._reads, self._writes = [*made.inputs, *made.constants], list(dict.fromkeys(r.value.tensor for r in results))
        self.text = program_text(made, self._defs)
        self.parts = [(d, d.items) for d in self._defs if not d.items[0].reshape]

    def _compile(self, frozen):
        """With the tensors of `frozen`, where all that may be held are known; else, and where that fails, without any."""
        if not self._defs:
            return
        known = [frozen[k] for k, _ in self._may_freeze]
        if known and all(tensor is not None for tensor in known):
            with unset_fake_temporarily():
                self._frozen = self._freeze(frozen)
        self.launches = (self._frozen.run if self._frozen else self._run).stats["launches"]

    @property
    def _run(self):
        """The program compiled for inputs all of which a call gives; None where it only makes views."""
        if self._unbound is None and self._defs:
            make = self._compile_for_ranges if self._ways else self._compile_whole
            self._unbound = make(self._compiler, self.text, self._defs)
            self._unbound.defer_checks()
        return self._unbound

    def _compile_whole(self, compiler, text, defs):
        inputs, outputs = self._specs(self._reads), self._specs(self._writes)
        try:
            return compiler.compile(text, inputs, outputs, target=self._target)
        except _core.Error as error:
            log.info("a graph is compiled node by node: %s", str(error).splitlines()[0])
            self._find_fault(compiler, defs)
            return compiler.compile(text, inputs, outputs, partition="each", target=self._target)

    def _compile_for_ranges(self, compiler, text, _):
        """For ranges of all symbols, or of all but one, of which each value then has code of its own. Raises Decline where neither can be, and
        for too many values."""
        inputs, outputs = self._specs(self._reads), self._specs(self._writes)
        while True:
            ranges = self._ways.ranges(self._sizes)
            made = compiler.compile(text, inputs, outputs, target=self._target, dynamic=ranges)
            if not made.stats["sizes"].startswith(ALONE):
                return made
            self._ways.refuse(made.stats["sizes"].removeprefix(ALONE))

    def _find_fault(self, compiler, defs):
        """Raises PartFailed for the first of `defs` that the compiler does not take."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            for made in [pool.submit(self._compile_part, compiler, d) for d in defs]:
                made.result()

    def _compile_part(self, compiler, part):
        inputs, outputs = self._specs(part.params), self._specs(part.returns)
        try:
            compiler.compile(part.named("part"), inputs, outputs, target=self._target)
        except _core.Error as error:
            raise PartFailed(part, inputs + outputs, error, part.items) from error

    def _specs(self, tensors):
        """As arguments; those of the caller have strides in the order of the text, the others are dense."""
        return [spec(tuple(map(self._number, t.stored_shape)), t.dtype, self._strides.get(t)) for t in tensors]

    def _result_plan(self, result, fake):
        """How a result is made of memory: ("number", value) or ("view"|"copy", tensor, shape, strides, offset, torch's strides)."""
        if not result.is_tensor:
            return ("number", size(self._number(result.value)) if isinstance(result.value, torch.SymInt) else result.value)
        value, tensor, number = result.value, result.value.tensor, self._number
        shape, base = tuple(map(number, value.shape)), self._strides.get(tensor)
        if base is None:
            dense, stored = {}, 1
            for d in reversed(tensor.order):
                dense[d] = stored
                stored *= max(1, number(tensor.shape[d]))
            base = [dense[d] for d in range(len(tensor.shape))]
        strides, offset = [0] * value.rank, 0
        for d, (terms, constant) in enumerate(value.rows):
            offset += number(constant) * base[d]
            for dimension, coefficient in terms:
                strides[dimension] += number(coefficient) * base[d]
        wanted = list(map(number, fake.stride()))
        equal = 0 in shape or all(a == w for a, w, n in zip(strides, wanted, shape) if n != 1)
        strides = wanted if equal else strides
        return ("view" if equal else "copy", tensor, shape, strides, offset, wanted)

    # Running.

    @property
    def executable(self):
        """What the last call ran: the whole program compiled, with the inputs it holds; None where it only makes views."""
        return self._frozen.run if self._frozen else self._run

    def _executable(self, inputs):
        """What runs these inputs, the tensors it takes, in order, and what is prepared for them."""
        if not self._may_freeze:
            return self._run, self._reads, self._fixed_inputs
        frozen = self._frozen
        if frozen is None or not frozen.is_for(inputs):
            frozen = self._frozen = self._freeze(inputs)
        return frozen.run, frozen.reads, frozen.fixed

    def _freeze(self, inputs):
        held = [(k, t) for k, t in self._may_freeze if self._may_hold(inputs[k], t)]
        self._bindings += 1
        if not held or self._bindings > MOST_BINDINGS:
            return self._freeze_nothing("they change between calls, or nobody counts their changes")
        of = {t: inputs[k].detach() for k, t in held}
        specs = [of.get(t, spec) for t, spec in zip(self._reads, self._specs(self._reads))]
        places = [i for i, t in enumerate(self._reads) if t in of]
        try:
            run = self._compiler.bind(self.text, specs, self._specs(self._writes), places, self._target)
        except _core.Error as error:
            return self._freeze_nothing(str(error).splitlines()[0])
        run.defer_checks()
        seen = {made[1] for made in self._results if made[0] != "number"}
        fixed = [entry for entry in self._fixed_inputs if entry[1] not in of or entry[1] in seen]
        return Frozen(run, [t for t in self._reads if t not in of], fixed, [(k, inputs[k]) for k, _ in held])

    def _freeze_nothing(self, reason):
        """From here on all inputs are taken."""
        log.info("weights of a part are taken as inputs: %s", reason)
        self._may_freeze = []
        return Frozen(self._run, self._reads, self._fixed_inputs, [])

    def _may_hold(self, data, tensor):
        """Whether `data` is as the program expects `tensor`, and a change of it would be noticed: those of inference mode have no version."""
        return data.stride() == tuple(self._strides[tensor]) and not data.is_inference()

    def __call__(self, inputs):
        if self._symbols:
            return self._for(inputs)(inputs)
        with torch.no_grad():
            run, reads, fixed = self._executable(inputs)
            memory = dict(self._constants)
            for k, tensor, shape, strides, dtype in fixed:
                given = inputs[k]
                if tensor in self._elsewhere:
                    given = torch.full((), given.item(), dtype=dtype, device=self._device)
                if given.stride() != strides or given.dtype is not dtype:
                    if any(s == 0 and n > 1 and own != 0 for s, n, own in zip(strides, shape, given.stride())):
                        raise _core.ArgumentError(f"{tensor.name} was expanded when its part was compiled, it is given as a dense tensor")
                    given = _laid_out(given, strides, dtype)
                memory[tensor] = given
            for tensor, shape, dtype in self._outputs:
                memory[tensor] = torch.empty(shape, dtype=dtype, device=self._device)
            for new, old in self.program.updates.items():
                memory[new] = memory[old]
            if run is not None:
                out = [memory[t] for t in self._writes]
                self._start(run, [memory[t] for t in reads], out if len(out) > 1 else out[0])
            return [self._result(how, memory) for how in self._results]

    def _start(self, run, given, out):
        """Runs on `given`, tensors of a GPU that begin between multiples of what kernels move at once by copies that do not."""
        if not self._meets_any_alignment:
            try:
                run(*given, out=out)
                return
            except _core.ArgumentError:
                if self._target is None or all(data.data_ptr() % ALIGNMENT == 0 for data in given):
                    raise
                self._meets_any_alignment = True
        run(*(data if data.data_ptr() % ALIGNMENT == 0 else _laid_out(data, data.stride(), data.dtype) for data in given), out=out)

    @staticmethod
    def _result(made, memory):
        if made[0] == "number":
            return made[1]
        how, tensor, shape, strides, offset, wanted = made
        base = memory[tensor]
        if how == "view" and not offset and base.shape == shape and base.stride() == tuple(strides):
            return base.detach() if base.requires_grad else base
        view = base.as_strided(shape, strides, base.storage_offset() + offset)
        return view if how == "view" else _laid_out(view, wanted, base.dtype)
