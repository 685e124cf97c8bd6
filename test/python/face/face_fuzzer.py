"""Random arguments for every function of the Python face: wrong types, huge numbers, surrogates, hostile objects.

    .venv/bin/python test/python/face/face_fuzzer.py --seconds 1200         # seeds that move; prints the first one
    .venv/bin/python test/python/face/face_fuzzer.py --seed 7 --cases 1     # one case again

Cases run in a child process, which says which one it begins: a child that dies or hangs is a find, as is an error of another
type than the face promises. The exit status counts finds.
"""

import argparse
import copy
import copyreg
import faulthandler
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

ALONE = 45
"""Seconds that one case may take."""

TEXT = """
def add(float(M,N) A, float(M,N) B) -> (O) { O(m,n) = A(m,n) + B(m,n) }
def two(float(M) A, float s) -> (O, P) { O(m) = A(m) * s  P +=! A(m) }
def gather(float(M,N) A, int64(L) I) -> (O) { O(l,n) = A(I(l),n) }
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def chain(float(M,K) A, float(K,N) B) -> (D) { C = mm(A, B)  D(m,n) = C(m,n) * 2 }
"""


class Boom(Exception):
    """What hostile objects throw: it may come out as it is."""


class Hostile:
    """An object whose special methods do what a seed says: throw, interrupt, give what is of no use, or change `victim`, a list."""

    __hash__ = object.__hash__

    def __init__(self, random, victim):
        self._random, self._victim = random, victim

    def _answer(self, usual):
        way = self._random.randrange(8)
        if way == 0:
            raise Boom("\ud800 thrown on purpose")
        if way == 1:
            raise KeyboardInterrupt
        if way == 2:
            self._victim.clear()
        return self._random.choice(JUNK) if way in (3, 4) else usual


def _special(name, usual):
    def method(self, *args, **named):
        answer = self._answer(usual() if callable(usual) else usual)
        return answer

    method.__name__ = name
    return method


_USUAL = {
    "__len__": 2, "__iter__": lambda: iter((1, 2)), "__getitem__": 1, "__index__": 3, "__int__": 3, "__float__": 1.5, "__bool__": True,
    "__str__": "text", "__repr__": "text", "__fspath__": "/nonexistent", "__contains__": True, "__call__": 1, "__eq__": False,
    "__dlpack_device__": (1, 0), "keys": ["a"], "shape": (2, 3), "dtype": "float32",
}  # fmt: skip
"""Special methods, and what a good object answers."""

JUNK = [
    None, True, 0, -1, 1, 7, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 0.5, -0.0, 1e30, 1e300, float("inf"), float("nan"), 1j,
    "", "x", "A", "O", "\ud800", "a\0b", "é", "A" * 5000, "cpu", "cuda:sm_90", "tile=32", "fusion=max", "NCHW16c", "split(1, 4)", "split(9,0)",
    "auto", "none", "float32", "float64", "rw", "/dev/null", 'domain: "{ S[i] }"', "def", "{", "[]", b"", b"\0\xff", bytearray(3),
    (), [], {}, set(), (1, 2), [3, -4], [2**70], ["A"], ["\ud800"], {"A": 0}, {"A": "NHWC"}, {1: 2}, [None], [[]], ("A", 1), object, object(), len, range(3), NotImplemented, ...,
]  # fmt: skip


def hostile(random, victim):
    chosen = random.sample(sorted(_USUAL), random.randint(1, len(_USUAL)))
    methods = {name: _special(name, _USUAL[name]) for name in chosen}
    methods = {name: property(m) if name in ("shape", "dtype") else m for name, m in methods.items()}
    if random.random() < 0.6:
        import numpy

        array = numpy.ones(random.choice([(2, 3), (3,), (), (0, 2)]), random.choice(["float32", "int64", "float64"]))
        capsules = lambda: random.choice([array.__dlpack__, lambda: random.choice(JUNK)])()
        methods["__dlpack__"] = lambda self, *args, **named: self._answer(capsules())
    bases = random.choice([(), (), (), (list,), (str,), (int,), (dict,), (float,)])
    made = type("Odd", (Hostile, *bases), methods)
    result = made.__new__(made)
    Hostile.__init__(result, random, victim)
    return result


def tensors(random):
    """A tensor that somebody might give: of another kind, type, layout or place."""
    import numpy
    import torch

    shape = random.choice([(2, 3), (2, 3), (3, 3), (3,), (), (0, 3), (2, 0), (1, 1), (2, 3, 4), (1,) * 40])
    kind = random.randrange(14)
    if kind < 5:
        type_ = random.choice([torch.float32, torch.float32, torch.float64, torch.int64, torch.bfloat16, torch.bool, torch.complex64, torch.uint8])
        made = torch.ones(shape, dtype=type_)
        ways = [lambda t: t, lambda t: t.expand(4, *t.shape), lambda t: t.flip(0) if t.dim() else t, lambda t: t.t() if t.dim() == 2 else t]
        ways += [lambda t: t.to("meta"), lambda t: t.to_sparse(), lambda t: t.requires_grad_() if t.is_floating_point() else t, lambda t: t[..., ::2] if t.dim() else t]
        ways += [lambda t: torch.nn.Parameter(t, requires_grad=False), lambda t: t[:0] if t.dim() else t, lambda t: torch._neg_view(t) if t.is_floating_point() else t]
        return random.choice(ways)(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind < 10 and len(shape) <= 32:
            type_ = random.choice(["f4", "f4", "f8", "i8", ">f4", "O", "U3", "c8", "f2", "M8[s]", [("a", "f4")], "?", "V3"])
            made = numpy.zeros(shape, type_)
            ways = [lambda t: t, lambda t: t[..., ::-1] if t.ndim else t, lambda t: numpy.ma.masked_array(t), lambda t: numpy.broadcast_to(t, (5, *shape))]
            ways += [lambda t: numpy.asfortranarray(t), lambda t: t[()], lambda t: t if t.dtype.hasobject else numpy.lib.stride_tricks.as_strided(t, t.shape, (1,) * t.ndim)]
            made = random.choice(ways)(made)
            if random.random() < 0.2 and isinstance(made, numpy.ndarray):
                made.flags.writeable = False
            return made
    return random.choice([memoryview(b"abcdef"), bytearray(12), b"1234", memoryview(bytearray(24)).cast("f", (2, 3)), 3, 2.5, True, 2**70])


class Face:
    """What there is to call, and what it is called with where nothing is wrong."""

    def __init__(self, folder):
        import numpy
        import torch

        import tensor_comprehensions as tc
        import tensor_comprehensions.torch
        from tensor_comprehensions import _core

        self.tc, self.core, self.folder = tc, _core, folder
        self.module = tc.define(TEXT, cache=False)
        self.a, self.b = torch.ones(2, 3), numpy.ones((2, 3), "float32")
        self.run = tc.compile(self.module.add, self.a, self.a, cache=False)
        self.two = tc.compile(self.module.two, tc.spec((3,)), 2.0, cache=False)
        self.cache = tc.cache.Cache(os.path.join(folder, "cache"))
        self.layout = tc.layout("split(1, 2)")
        self.options = tc.MappingOptions("tile=8")
        named = [value for value in [*vars(_core).values(), *vars(tc).values()] if isinstance(value, type) and not issubclass(value, Exception)]
        self.classes = list(dict.fromkeys(base for kind in named for base in kind.__mro__))
        self.out = [numpy.zeros(3, "float32"), numpy.zeros((), "float32")]
        self.calls = self._calls()

    def _calls(self):
        """(function, its arguments, its keywords), all right."""
        tc, T, a, b, layout = self.tc, self.module, self.a, self.b, self.layout
        how = dict(target="cpu", options="default", cache=False, partition="auto", libraries="none", layouts="constants", derive=0)
        compiled = how | dict(constants=["B"], fold_scales=False, schedule=None, time_limit=5.0, memory_limit=1e10)
        file = os.path.join(self.folder, "exported")
        calls = [
            (tc.define, (TEXT,), dict(name="n", **how)),
            (tc.compile, (T.add, a, a), compiled | dict(out=tc.spec((2, 3)))),
            (tc.compile, (T.chain, b, tc.spec((3, 2))), {k: v for k, v in compiled.items() if k != "constants"}),
            (tc.compile, (T.mm, a, a.t()), dict(layouts={"B": "reorder(1, 0)"}, cache=False)),
            (T.add, (a, b), {}), (T.add, (a,), dict(B=a, out=a.clone())), (T.two, (self.out[0], 2.0), dict(out=self.out)),
            (T.gather, (a, [0, 1]), {}), (self.run, (a, a), dict(out=a.clone())), (self.two, (self.out[0], 3.0), dict(out=self.out)),
            (T.add.infer, (a, tc.spec((2, 3))), {}), (self.run.profile, (a, a), {}), (self.run.prepare, (0,), {}),
            (self.run.explain, (a, a), dict(measure=False)), (tc.load, (self.run.serialise(),), {}),
            (tc.spec, ((2, 3), "float32", (3, 1)), {}), (tc.TensorSpec, ([2, 3], "float32", None), {}), (tc.MappingOptions, ("tile=8",), dict(fusion="max", tile=[4, 4], quota=9)),
            (self.options.replace, (), dict(tile=[3], parallel_along=["m"], unroll=2, pack=True)), (tc.MappingOptions.from_bytes, (self.options.to_bytes(),), {}),
            (tc.grad, (T.mm, ["A"], ["C"]), dict(save=True)), (tc.jvp, (T.mm, ["A"], ["C"]), {}), (tc.vmap, (T.mm, [0, None], 0), {}),
            (tc.derive, (T.mm, a, a.t()), dict(depth=1, count=1, libraries="none", target="cpu", constants=["B"], cache=False)),
            (tc.layout, ("split(1, 16)",), {}), (tc.layout, ("NCHW16c", "NCHW"), {}), (tc.layout.guideline, (T.mm, a, a.t()), {}), (tc.layout.template, (T.mm, a, a.t()), {}),
            (layout.split, (0, 2), {}), (layout.reorder, (1, 0), {}), (layout.fuse, (0, 1), {}), (layout.unfold, (0, 3, 1), {}), (layout.pad, (0, 1, 1), {}),
            (layout.store_at, (0, 1, 4), {}), (layout.filled, ("zero",), {}), (layout.inverse, ((4, 4),), {}), (layout.map, ((4, 4),), {}),
            (tc.set_num_threads, (1,), {}), (tc.torch_op, ("fuzz::op", T.add), {}), (T.__getitem__, ("add",), {}),
            (tc.cache.Cache, (os.path.join(self.folder, "other"),), dict(mode="rw", override=None, shared=[], max_size="1m")),
            (self.cache.find, (T.add, a, a), dict(out=None, target=None)), (self.cache.nearest, (T.add, a, a), {}), (self.cache.best, (T.add, a, a), {}),
            (self.cache.inject, (T.add, a, a), dict(options="tile=8", note="n", target=None)), (self.cache.remove, ("12345678",), {}),
            (self.cache.record, (T.add, a, a), dict(options="tile=8", measured=tc.cache.Measurement.here(5.0), note="")), (tc.cache.Measurement.here, (3.0,), {}),
            (self.cache.gc, (), dict(max_size="1m", results_a_key=2)), (self.cache.export, (file,), dict(best_only=True)), (self.cache.import_, (file,), {}),
            (self.cache.merge, (self.folder,), {}), (self.cache.entries, (), {}), (self.cache.verify, (), dict(recompile=False)),
            (tc.torch.Module, (T.mm, ["B"]), dict(sizes={"K": 3, "N": 2}, init=None)),
            *((copied, (value,), {}) for value in (tc.spec((2, 3)), T.add, self.run, self.options) for copied in (copy.copy, copy.deepcopy)),
            *((reduced, (value, protocol), {}) for value in (tc.spec((2, 3)), T.add, self.layout) for reduced in (pickle.dumps, object.__reduce_ex__, copyreg._reduce_ex) for protocol in (0, 1, 2)),
            (tc.autotune, (T.add, a, a), dict(budget=0.01, candidates=1, search="genetic", ranking="none", seed=0, population=2, starts=["tile=8"], cache=False, devices=[], progress=False)),
            (tc.tune_derivations, (T.mm, a, a.t()), dict(budget=0.01, depth=1, candidates=1, cache=False)),
        ]  # fmt: skip
        return calls

    def members(self):
        """A class, and a function of it to be called on something else."""
        return [(kind, name) for kind in self.classes for name in dir(kind)]


def garbage(random, face, victim, depth=0):
    """An argument that fits nowhere, or somewhere else."""
    way = random.randrange(10)
    if way < 4:
        return random.choice(JUNK)
    if way < 6:
        return tensors(random)
    if way == 6:
        return hostile(random, victim)
    if way == 7:
        kind = random.choice(face.classes)
        return kind.__new__(kind) if random.random() < 0.8 else kind
    if way == 8 and depth < 2:
        made = [garbage(random, face, victim, depth + 1) for _ in range(random.randrange(4))]
        return made if random.random() < 0.5 else tuple(made)
    return random.choice([face.module, face.module.add, face.run, face.layout, face.options, face.cache, face.tc, face.tc.spec((2, 3))])


def call_of(random, face, victim):
    """A call with one or some arguments in the place of the right ones: function, arguments, keywords."""
    if random.random() < 0.25:
        kind, name = random.choice(face.members())
        member = getattr(kind, name)
        own = kind.__new__(kind) if random.random() < 0.5 else garbage(random, face, victim)
        rest = [garbage(random, face, victim) for _ in range(random.randrange(3))]
        return (member, [own, *rest], {}) if callable(member) else (getattr, [own, name], {})
    function, args, named = random.choice(face.calls)
    args, named = list(args), dict(named)
    places = [*range(len(args)), *named]
    slow = function in (face.tc.autotune, face.tc.tune_derivations)
    for place in random.sample(places, min(len(places), random.choice([1, 1, 1, 2, 3]))) if slow or random.random() < 0.95 else []:
        if isinstance(place, int):
            args[place] = garbage(random, face, victim)
        else:
            named[place] = garbage(random, face, victim)
    if random.random() < 0.03:
        args = args[:-1] if random.random() < 0.5 else [*args, garbage(random, face, victim)]
    return function, args, named


OF_ARGUMENTS = ("Boolean value of Tensor", "sub-views are not implemented", "cannot be called on meta tensors", "too large to convert", "cannot fit 'int'", "Could not run 'aten::")
"""Of texts of errors that tensors and numbers throw where they are asked for their truth, items or value."""


def is_promised(error, face):
    """Whether an error may come out of the face: its own, an interrupt, what the argument's own code threw, and what Python says of any call."""
    if isinstance(error, face.tc.InternalError):
        return False
    if isinstance(error, (face.tc.Error, KeyboardInterrupt, Boom)):
        return True
    if isinstance(error, MemoryError) and not str(error):
        return True  # Python's own lists, of what says that it is longer than memory
    if type(error) in (TypeError, ValueError, AttributeError, KeyError, pickle.PicklingError) or any(text in str(error) for text in OF_ARGUMENTS):
        return True
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return bool(frames) and not any("tensor_comprehensions" in frame.filename for frame in frames)  # of object, torch, NumPy


def run_case(seed, face):
    random_ = random.Random(seed)
    victim = list(face.out)
    face.calls = face._calls() if random_.random() < 0.05 else face.calls
    try:
        function, args, named = call_of(random_, face, victim)
    except (Boom, KeyboardInterrupt, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        return None  # the argument itself cannot be made
    try:
        function(*args, **named)
    except BaseException as error:
        if is_promised(error, face):
            return None
        where = "".join(traceback.format_exception(type(error), error, error.__traceback__)[-3:])
        return f"{getattr(function, '__qualname__', type(function).__name__)} of {[type(a).__name__ for a in args]}, {sorted(named)}: {type(error).__name__}: {where[:1500]!a}"
    return None


def work(first, cases, seconds):
    """In the child: a line "case N" before each, a line "find N: ..." behind a wrong one."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="tc_face.") as folder:
        faulthandler.enable()
        os.chdir(folder)  # texts are taken for names of files
        face, ends = Face(folder), time.monotonic() + seconds
        for seed in range(first, first + cases):
            if time.monotonic() > ends:
                break
            print("case", seed, flush=True)
            faulthandler.dump_traceback_later(ALONE, exit=True)
            found = run_case(seed, face)
            faulthandler.cancel_dump_traceback_later()
            if found:
                print(f"find {seed}:", found, flush=True)
        print("done", flush=True)
        os._exit(0)  # objects of odd classes are not to be destroyed in an order of their own


def fuzz(first, cases, seconds):
    """The finds of cases from `first` on, and how many cases ran. A child that dies is followed by one behind its case."""
    finds, ends, seed = [], time.monotonic() + seconds, first
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    environment = dict(os.environ, TC_CACHE_MODE="off", PYTHONHASHSEED="0", CUDA_VISIBLE_DEVICES="", PYTHONPATH=path)
    while seed < first + cases and time.monotonic() < ends:
        left = ends - time.monotonic()
        command = [sys.executable, os.path.abspath(__file__), "--child", "--seed", str(seed), "--cases", str(first + cases - seed), "--seconds", str(left)]
        child = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
        lines = child.stdout.splitlines()
        finds += [line for line in lines if line.startswith("find ")]
        ran = [int(line.split()[1]) for line in lines if line.startswith("case ")]
        if "done" not in lines:
            at = ran[-1] if ran else "none"
            finds.append(f"find {at}: the process ended with {child.returncode}: {child.stderr[-2000:]}")
            if not ran:
                break
        seed = ran[-1] + 1 if ran else first + cases
    return finds, seed - first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("TC_FUZZ_SECONDS", 60)))
    parser.add_argument("--child", action="store_true")
    given = parser.parse_args()
    if given.child:
        return work(given.seed, given.cases, given.seconds)
    first = int(time.time()) * 1000 if given.seed is None else given.seed
    print(f"seed {first}", flush=True)
    finds, ran = fuzz(first, given.cases, given.seconds)
    print(*finds, f"{ran} cases from seed {first}, {len(finds)} finds", sep="\n")
    return min(len(finds), 100)


if __name__ == "__main__":
    sys.exit(main())
