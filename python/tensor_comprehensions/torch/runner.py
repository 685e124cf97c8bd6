"""Runs a program: its parts compiled once each, intermediates in one workspace, results where torch wants them.

A program is compiled whole, as a def that calls those of its nodes: the compiler decides which become one part. Where it
does not take the whole, parts are compiled one by one (fuse.py), so that a part that fails is known and the others stay.
`Compiler.compile(text, inputs, outputs)` is the only door to the compiler.
"""

import concurrent.futures
import dataclasses
import os
import threading
from typing import Callable, List

import torch

import tensor_comprehensions as tc

from .builder import TORCH_DTYPES
from .fuse import fuse
from .program import Program, root_tensor
from .report import log
from .text import def_of, defs_of, program_text
from .values import Tensor

ALIGNMENT = 64
MOST_IDLE_WORKSPACES = 4


class PartFailed(Exception):
    """The compiler did not take a part: `part`, a Def, its specs and the error."""

    def __init__(self, part, specs, error, items):
        super().__init__(str(error))
        self.part, self.specs, self.error, self.items = part, specs, error, items


class Compiler:
    """Compiles defs; equal ones for equal tensors once. Safe to use from several threads."""

    def __init__(self, **options):
        self.options = options
        self._known, self._lock = {}, threading.Lock()

    def compile(self, text: str, inputs, outputs) -> Callable:
        """An executable of the last def in `text` for tensors like the specs `inputs` and `outputs`; called as executable(*inputs, out=outputs)."""
        key = (text, tuple(map(repr, inputs)), tuple(map(repr, outputs)))
        with self._lock:
            found = self._known.get(key)
        if found is None:
            module = tc.define(text)
            name = list(module)[-1]
            found = tc.compile(
                module[name], *inputs, out=tuple(outputs) if len(outputs) > 1 else outputs[0], **self.options
            )
            with self._lock:
                found = self._known.setdefault(key, found)
        return found


def _spec(tensor: Tensor, strides=None):
    return tc.spec(tensor.stored_shape, tensor.dtype, strides)


def _bytes(tensor):
    return max(1, tensor_numel(tensor)) * TORCH_DTYPES[tensor.dtype].itemsize


def tensor_numel(tensor):
    count = 1
    for n in tensor.shape:
        count *= n
    return count


def plan(lifetimes):
    """Places in one block of memory: {tensor: (first, last, size)} -> ({tensor: offset}, size of the block).

    Tensors whose lives overlap, ends included, do not share bytes. Large ones are placed first, each as low as it fits.
    """
    placed, offsets = [], {}
    for tensor, (first, last, size) in sorted(lifetimes.items(), key=lambda entry: -entry[1][2]):
        size = -(-size // ALIGNMENT) * ALIGNMENT
        offset = 0
        for low, high, start, end in sorted(placed):
            if end < first or last < start:
                continue
            if offset + size <= low:
                break
            offset = max(offset, high)
        placed.append((offset, offset + size, first, last))
        offsets[tensor] = offset
    return offsets, max((high for _, high, _, _ in placed), default=0)


class Runner:
    """A program ready to run: `runner(inputs)` gives the list of its results.

    `fakes` are the fake tensors of the inputs, whose strides the parts are compiled for. Raises PartFailed.
    """

    def __init__(self, program: Program, fakes, compiler: Compiler, result_fakes):
        self.program, self.result_fakes = program, result_fakes
        self._strides = {t: f.stride() for t, f in zip(program.inputs, fakes) if t is not None}
        self._strides |= {t: tuple(data.stride()) for t, data in program.constants.items()}
        self._slots, self._idle = {}, []
        self._number_slots()
        self._plan_results()
        self.parts, self.launches = [], 0
        if not self._compile_whole(compiler):
            self._compile(compiler)
            self._plan_workspace()
        self._fixed_inputs = [
            (k, self._slots[t], f.shape, f.stride(), f.dtype)
            for k, (t, f) in enumerate(zip(program.inputs, fakes))
            if t is not None
        ]

    # Planning.

    def _slot(self, tensor):
        return self._slots.setdefault(tensor, len(self._slots))

    def _number_slots(self):
        for t in [*self.program.inputs, *self.program.constants]:
            if t is not None:
                self._slot(t)

    def _plan_results(self):
        """Memory that results show is made at each call; all other tensors lie in the workspace."""
        inputs = set(self._slots)
        self._shown = list(
            dict.fromkeys(
                root_tensor(r.value.tensor)
                for r in self.program.results
                if r.is_tensor and root_tensor(r.value.tensor) not in inputs
            )
        )

    def _compile_whole(self, compiler):
        """Compiles the program as one executable; False where the compiler does not take it."""
        arguments = {t for t in [*self.program.inputs, *self.program.constants] if t is not None}
        results = [r for r in self.program.results if r.is_tensor and r.value.tensor not in arguments]
        made = dataclasses.replace(self.program, results=results)
        defs = defs_of(made)
        read = {t for d in defs for t in d.params}
        made.inputs = [t for t in made.inputs if t in read]
        made.constants = {t: data for t, data in made.constants.items() if t in read}
        reads, writes = [*made.inputs, *made.constants], list(dict.fromkeys(r.value.tensor for r in results))
        self._calls, self._offsets, self._in_workspace, self._workspace_bytes, self._shown = [], {}, [], 0, writes
        if defs:
            try:
                inputs, outputs = [_spec(t, self._input_strides(t)) for t in reads], [_spec(t) for t in writes]
                run = compiler.compile(program_text(made, defs), inputs, outputs)
            except tc.Error as error:
                log.info("a graph is compiled part by part: %s", str(error).splitlines()[0])
                self._plan_results()
                return False
            self._calls.append(("step", run, [self._slot(t) for t in reads], [self._slot(t) for t in writes]))
            self.parts = [(d, d.items, run) for d in defs if not d.items[0].reshape]
            self.launches = run.stats["launches"] if isinstance(run, tc.Executable) else 1
        self._plan_shown()
        return True

    def _plan_shown(self):
        self._shown_slots = [(self._slot(t), t.stored_shape, TORCH_DTYPES[t.dtype]) for t in self._shown]
        self._results = [self._result_plan(r, f) for r, f in zip(self.program.results, self.result_fakes)]

    def _compile(self, compiler):
        groups = fuse(self.program.items)
        needed = {r.value.tensor for r in self.program.results if r.is_tensor}
        readers = {}
        for k, group in enumerate(groups):
            for item in group.items:
                for t in item.reads:
                    readers.setdefault(t, set()).add(k)
        work = []
        for k, group in enumerate(groups):
            if group.items[0].reshape:
                work.append((group, None))
                continue
            written = {t for item in group.items for t in item.writes}
            outside = {t for t in written if t in needed or readers.get(t, set()) - {k}}
            if outside:
                work.append((group, def_of(group.items, outside)))
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            pending = [part and pool.submit(self._compile_part, compiler, group, part) for group, part in work]
            made = [p and p.result() for p in pending]
        self._order = []
        for (group, part), run in zip(work, made):
            if part is None:
                self._order.append(("reshape", *group.items[0].reshape))
            else:
                self.parts.append((part, group.items, run))
                self._order.append(("step", part, run))

    def _compile_part(self, compiler, group, part):
        inputs = [_spec(t, self._input_strides(t)) for t in part.params]
        outputs = [_spec(t) for t in part.returns]
        try:
            return compiler.compile(part.named("part"), inputs, outputs)
        except tc.Error as error:
            raise PartFailed(part, inputs + outputs, error, group.items) from error

    def _input_strides(self, tensor):
        """Strides of an argument of the program in the order of its text, None for a dense tensor."""
        if tensor in self._strides:
            return list(self._strides[tensor])
        return None

    def _plan_workspace(self):
        lives, moment = {}, 0
        inputs = set([*self.program.inputs, *self.program.constants])
        skip = inputs | set(self._shown)
        for entry in self._order:
            tensors = [entry[1], entry[2]] if entry[0] == "reshape" else [*entry[1].params, *entry[1].returns]
            for t in tensors:
                root = root_tensor(t)
                if root in skip:
                    continue
                first, _, size = lives.get(root, (moment, moment, _bytes(root)))
                lives[root] = (first, moment, size)
            moment += 1
        self._offsets, self._workspace_bytes = plan(lives)
        self._in_workspace = list(lives)
        self._calls, self._shapes_of = [], []
        reshaped_at_call = []
        for entry in self._order:
            if entry[0] == "reshape":
                alias, source = entry[1], entry[2]
                if root_tensor(source) in skip:
                    reshaped_at_call.append((self._slot(alias), self._slot(source), alias.shape, source))
                    self._calls.append(("view", self._slot(alias), self._slot(source), alias.shape))
            else:
                reads, writes = [self._slot(t) for t in entry[1].params], [self._slot(t) for t in entry[1].returns]
                self._calls.append(("step", entry[2], reads, writes))
        for t in [
            t for e in self._order for t in ((e[1], e[2]) if e[0] == "reshape" else (*e[1].params, *e[1].returns))
        ]:
            self._slot(t)
        self.launches = sum(call[0] == "step" for call in self._calls)
        self._plan_shown()

    def _result_plan(self, result, fake):
        """How a result is made of its memory: ("number", value) or ("same"|"view"|"copy", slot, shape, strides, offset, torch's strides)."""
        if not result.is_tensor:
            return ("number", result.value)
        value, tensor = result.value, result.value.tensor
        base = self._strides.get(tensor)
        if base is None:
            dense, stored = {}, 1
            for d in reversed(tensor.order):
                dense[d] = stored
                stored *= max(1, tensor.shape[d])
            base = [dense[d] for d in range(len(tensor.shape))]
        strides, offset = [0] * value.rank, 0
        for d, (terms, constant) in enumerate(value.rows):
            offset += constant * base[d]
            for dimension, coefficient in terms:
                strides[dimension] += coefficient * base[d]
        wanted = list(fake.stride())
        if any(s < 0 for s in strides):
            raise AssertionError("a result would run backwards")
        equal = value.numel == 0 or all(a == w for a, w, n in zip(strides, wanted, value.shape) if n != 1)
        strides = wanted if equal else strides
        return ("view" if equal else "copy", self._slot(tensor), tuple(value.shape), strides, offset, wanted)

    # Running.

    def _new_workspace(self):
        """All slots, those of intermediates filled with tensors over one block of memory."""
        slots = [None] * len(self._slots)
        block = torch.empty(self._workspace_bytes + ALIGNMENT, dtype=torch.uint8)
        shift = -block.data_ptr() % ALIGNMENT
        roots = {}
        for root in self._in_workspace:
            start = shift + self._offsets[root]
            count = tensor_numel(root) * TORCH_DTYPES[root.dtype].itemsize
            flat = block[start : start + count].view(TORCH_DTYPES[root.dtype])
            roots[root] = flat
        for tensor, slot in self._slots.items():
            root = root_tensor(tensor)
            if root in roots:
                slots[slot] = roots[root].view(tensor.stored_shape)
        for tensor, data in self.program.constants.items():
            slots[self._slots[tensor]] = data.detach()
        return slots

    def __call__(self, inputs):
        try:
            slots = self._idle.pop()
        except IndexError:
            with torch.no_grad(), torch.utils._python_dispatch._disable_current_modes():
                slots = self._new_workspace()
        try:
            if torch.is_grad_enabled():
                with torch.no_grad():
                    return self._run(inputs, slots)
            return self._run(inputs, slots)
        finally:
            for _, slot, *_ in self._fixed_inputs:
                slots[slot] = None
            for slot, _, _ in self._shown_slots:
                slots[slot] = None
            if len(self._idle) < MOST_IDLE_WORKSPACES:
                self._idle.append(slots)

    def _run(self, inputs, slots):
        for k, slot, shape, strides, dtype in self._fixed_inputs:
            given = inputs[k]
            if given.stride() != strides or given.dtype is not dtype:
                given = torch.empty_strided(shape, strides, dtype=dtype).copy_(given)
            slots[slot] = given
        for slot, shape, dtype in self._shown_slots:
            slots[slot] = torch.empty(shape, dtype=dtype)
        for call in self._calls:
            if call[0] == "view":
                slots[call[1]] = slots[call[2]].reshape(call[3])
                continue
            _, run, reads, writes = call
            if len(writes) == 1:
                run(*[slots[s] for s in reads], out=slots[writes[0]])
            else:
                run(*[slots[s] for s in reads], out=[slots[s] for s in writes])
        return [self._result(plan_, slots) for plan_ in self._results]

    @staticmethod
    def _result(made, slots):
        if made[0] == "number":
            return made[1]
        how, slot, shape, strides, offset, wanted = made
        base = slots[slot]
        if how == "view" and not offset and base.shape == shape and base.stride() == tuple(strides):
            return base.detach() if base.requires_grad else base
        view = base.as_strided(shape, strides, base.storage_offset() + offset)
        return view if how == "view" else torch.empty_strided(shape, wanted, dtype=base.dtype).copy_(view)
