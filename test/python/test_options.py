"""Mapping options: made of keywords, text or bytes; printed as code; taken by compile and define."""

import dataclasses
import inspect
import pickle

import pytest
import torch

import tensor_comprehensions as tc
from tensor_comprehensions import MappingOptions
from tensor_comprehensions.options import Options

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"

ROWS = [
    ({}, "", "MappingOptions()", "tc::options::MappingOptions()"),
    (
        {"fusion": "max", "tile": [32, 0]},
        "fusion=max,tile=32x0",
        "MappingOptions(fusion='max', tile=[32, 0])",
        "tc::options::MappingOptions().with_fusion(tc::options::FusionStrategy::Max).with_tile({32, 0})",
    ),
    (
        {"allow_skewing": True, "quota": 7, "parallel": False},
        "allow_skewing=1,quota=7,parallel=0",
        "MappingOptions(allow_skewing=True, quota=7, parallel=False)",
        "tc::options::MappingOptions().with_allow_skewing(true).with_quota(7).with_parallel(false)",
    ),
]


@pytest.mark.parametrize("values, text, python, cpp", ROWS)
def test_every_form_makes_the_same(values, text, python, cpp):
    options = MappingOptions(**values)
    assert (str(options), repr(options), options.to_cpp()) == (text, python, cpp)
    for same in (
        MappingOptions(text),
        eval(repr(options)),
        MappingOptions.from_bytes(options.to_bytes()),
        pickle.loads(pickle.dumps(options)),
        MappingOptions().replace(**values),
    ):
        assert same == options and hash(same) == hash(options)
    for name, value in values.items():
        assert getattr(options, name) == value


def test_are_values():
    options = MappingOptions("fusion=max", tile=(8, 8))
    assert options.replace(tile="16x4").tile == [16, 4] and options.tile == [8, 8]
    assert options != MappingOptions() and MappingOptions(fusion="preserve3") == MappingOptions()
    assert len({options, MappingOptions(fusion="max", tile=[8, 8]), MappingOptions()}) == 2
    with pytest.raises(AttributeError, match="has no setter"):
        options.tile = [4]


@pytest.mark.parametrize(
    "values, message",
    [
        ({"fusion": "most"}, "mapping option 'fusion=most': must be max, preserve3 or min"),
        ({"tile": [-1]}, r"mapping option 'tile=-1': must be at most 16 sizes joined by 'x'"),
        ({"tile": [1.5]}, r"mapping option 'tile=\[1.5\]': must be at most 16 sizes"),
        ({"tile": None}, "mapping option 'tile=None': must be at most 16 sizes"),
        ({"parallel": "yes"}, "mapping option 'parallel=yes': must be 0 or 1"),
        ({"quota": 1 << 70}, "mapping option 'quota=1180591620717411303424': must be a number of isl operations"),
        ({"colour": "red"}, "no mapping option 'colour'; the options are fusion, "),
    ],
)
def test_errors_name_the_option(values, message):
    with pytest.raises(tc.OptionsError, match=message):
        MappingOptions(**values)
    with pytest.raises(tc.OptionsError, match=message):
        MappingOptions().replace(**values)


@pytest.mark.parametrize("data", [b"", b"\x0a", b"tile=3"])
def test_other_bytes_are_refused(data):
    with pytest.raises(tc.OptionsError, match="these bytes are not mapping options"):
        MappingOptions.from_bytes(data)


@pytest.mark.parametrize("options", [MappingOptions(fusion="min", tile=[4, 4], promote=False), "tile=4x8,parallel=0"])
def test_compile_and_define_take_them(options):
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    executable = tc.compile(tc.define(MM).mm, a, b, options=options)
    torch.testing.assert_close(executable(a, b), a @ b)
    assert executable.stats["options"] == str(options)
    torch.testing.assert_close(tc.define(MM, options=options).mm(a, b), a @ b)


def test_names_of_iterators_are_those_of_the_text():
    a, b = torch.randn(50, 70), torch.randn(70, 90)
    f = tc.compile(tc.define(MM).mm, a, b, options=MappingOptions(vector_along=["n"], parallel_along="m/n"))
    torch.testing.assert_close(f(a, b), a @ b)
    with pytest.raises(tc.OptionsError, match="'vector_along=n/q': 'mm' has no iterator 'q', it has k, m, n"):
        tc.compile(tc.define(MM).mm, a, b, options="vector_along=n/q")


def test_the_tile_is_obeyed():
    plain = tc.compile(
        tc.define(MM).mm, tc.spec((64, 64)), tc.spec((64, 64)), options="parallel=0,vectorise=0,construct=rules"
    )
    tiled = tc.compile(tc.define(MM).mm, tc.spec((64, 64)), tc.spec((64, 64)), options="parallel=0,vectorise=0,tile=16x16")
    assert tiled.source.count("for (") > plain.source.count("for (")


def test_code_for_another_machine_is_made_and_not_run():
    text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
    a, b = torch.ones(8, 4), torch.ones(4, 16)
    foreign = [t for t in ("cpu:avx2", "cpu:avx512", "cpu:avx512,amx") if not _runs(text, t, a, b)]
    if not foreign:
        pytest.skip("this machine runs code for all targets")
    f = tc.compile(tc.define(text).mm, a, b, target=foreign[0])
    assert foreign[0].partition(",")[0] in f.explain() and "## assembly" in f.explain()
    with pytest.raises(tc.OptionsError, match="this machine cannot run code for target 'cpu:avx"):
        f(a, b)
    with pytest.raises(tc.OptionsError, match="this machine cannot run code for target 'cpu:avx"):
        tc.load(f.serialise())


def _runs(text, target, *tensors):
    try:
        tc.compile(tc.define(text).mm, *tensors, target=target)(*tensors)
    except tc.OptionsError:
        return False
    return True


@pytest.mark.parametrize("call, own", [(tc.compile, {"function", "tensors", "out", "constants", "named"}), (tc.define, {"text", "name"})])
def test_keywords_are_those_of_options(call, own):
    defaults = {field.name: field.default for field in dataclasses.fields(Options)}
    taken = {name: parameter.default for name, parameter in inspect.signature(call).parameters.items() if name not in own}
    assert taken == {name: defaults[name] for name in taken}
    assert call is not tc.compile or taken == defaults


def test_each_keyword_arrives_where_it_belongs(monkeypatch):
    given = {"target": "cpu:avx2", "options": "default", "cache": False, "partition": "each", "libraries": "auto", "layouts": "off", "derive": 1,
             "fold_scales": True, "schedule": "s", "nest": "n", "time_limit": 7.0, "memory_limit": 9.0, "dynamic": "N, M"}  # fmt: skip
    seen = []
    monkeypatch.setattr(tc.api, "compiled", lambda function, tensors, out, how, constants: seen.append(how))
    monkeypatch.setattr(tc.api, "Module", lambda text, name, how: seen.append(how))
    specs = (tc.spec((2, 3)), tc.spec((3, 4)))
    function = tc.Function(tc._core.define(MM, "<tc>")[0][0], Options().settings())
    tc.compile(function, *specs, **given)
    tc.define(MM, **{name: value for name, value in given.items() if name in inspect.signature(tc.define).parameters})
    assert seen[0] == Options(**given) and seen[0].dynamic == ("M", "N") and pickle.loads(pickle.dumps(seen[0])) == seen[0]
    defaults = {name: getattr(Options(), name) for name in ("fold_scales", "schedule", "nest", "time_limit", "memory_limit")}
    assert seen[1] == dataclasses.replace(seen[0], **defaults)
