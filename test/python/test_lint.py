"""Each rule of the lint finds what is planted, and nothing in what is right."""

import importlib
import pathlib
import re
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture(scope="module")
def lint():
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module("lint.rules"), importlib.import_module("lint.source")
    sys.path.remove(str(TOOLS))


@pytest.fixture
def sources(lint):
    """Makes {path: Source} of {path: text}."""
    return lambda texts: {p: lint[1].Source(pathlib.Path(p), t) for p, t in texts.items()}


def lines_of(findings):
    return [finding.line for finding in findings]


def body(lines):
    return "\n".join(f"  x += {i};" for i in range(lines - 2))


@pytest.mark.parametrize("lines, found", [(60, []), (61, [3])])
def test_long_functions(lint, sources, lines, found):
    text = f"namespace {{\n\nvoid f(int x) {{\n{body(lines)}\n}}\n\n}}  // namespace\n"
    assert lines_of(lint[0].long_functions(sources({"tc/a.cpp": text}))) == found


def test_long_texts_are_not_long_functions(lint, sources):
    text = 'const char* f() {\n  return R"(\n' + "text\n" * 80 + ')";\n}\n'
    assert not list(lint[0].long_functions(sources({"tc/a.cpp": text})))


def test_rows_of_tables_are_not_counted(lint, sources):
    text = "void f() {\n  Row rows[] = {\n" + "      {1, 2},\n" * 80 + "  };\n}\n"
    assert not list(lint[0].long_functions(sources({"tc/a.cpp": text})))


def test_braces_in_strings_and_comments_count_not(lint, sources):
    text = 'void f() {\n  g("{{{", \'{\');  // {\n}\n' + "\n" * 80 + "void h() {}\n"
    found = sources({"tc/a.cpp": text})["tc/a.cpp"].definitions()
    assert [(f.name, f.lines) for f in found] == [("f", 3), ("h", 1)]


HEADER = """#pragma once
namespace tc {

/// Three and more.
int documented(int x);
int of_the_same_group(int x);

int bare(int x);

/// A class.
class Thing {
 public:
  Thing(int x);
  ~Thing();
  int size() const { return size_; }
  int computed() const;
  int run() override;

 private:
  int hidden() const;
  int size_ = 0;
};

}  // namespace tc
"""


def test_functions_without_contract(lint, sources):
    assert lines_of(lint[0].functions_without_contract(sources({"tc/a.h": HEADER}))) == [8, 16]
    assert not list(lint[0].functions_without_contract(sources({"tc/a.cpp": HEADER})))


def test_the_comment_of_a_type_speaks_of_the_function_below_it(lint, sources):
    text = "{}struct Sum {{\n  int low = 0;\n\n  int high = 0;\n}};\n{}Sum sum_of(int x);\n"
    found = [len(list(lint[0].functions_without_contract(sources({"tc/a.h": text.format(*parts)}))))
             for parts in (("/// Of x.\n", ""), ("", ""), ("/// Of x.\n", "\n"))]
    assert found == [0, 1, 1]


def test_one_in_twenty_functions_needs_no_contract(lint, sources):
    rest = "".join(f"/// The {i}th.\nint f{i}();\n\n" for i in range(40))
    assert not list(lint[0].functions_without_contract(sources({"tc/a.h": rest + "int bare();\n"})))
    assert list(lint[0].functions_without_contract(sources({"tc/a.h": rest + "int a();\n\nint b();\n\nint c();\n"})))


def test_passes_without_tests(lint, sources):
    passes = sources({"tc/cpu/stmt/fold.h": "int fold(int x);\n", "tc/base/fold.h": "int other(int x);\n"})
    called = sources({"test/cpu/fold_test.cpp": "auto y = fold(3);\n"})
    named = sources({"test/cpu/fold_test.cpp": '// fold\nconst char* name = "fold";\n'})
    assert not list(lint[0].passes_without_tests(passes, called))
    assert [f.path for f in lint[0].passes_without_tests(passes, named)] == ["tc/cpu/stmt/fold.h"]


def test_unused_includes(lint, sources):
    header = sources({"tc/base/fold.h": "struct Fold {};\nint fold(int x);\n"})
    text = '#include "tc/base/{}.h"\n\n#include <vector>\n\nstd::vector<int> x;\n{}\n'
    used = sources({"tc/a.cpp": text.format("fold", "Fold f;")})
    unused = sources({"tc/a.cpp": text.format("fold", "").replace("std::vector<int>", "int")})
    own = sources({"tc/base/fold.cpp": text.format("fold", "")})
    assert not list(lint[0].unused_includes(used, header))
    assert lines_of(lint[0].unused_includes(unused, header)) == [1, 3]
    assert not list(lint[0].unused_includes(own, header))


def test_crowded_folders(lint):
    files = [f"tc/a/{i}.h" for i in range(45)]
    assert not list(lint[0].crowded_folders(files))
    assert [f.path for f in lint[0].crowded_folders(files + ["tc/a/x.h"])] == ["tc/a"]


def test_plain_locks(lint, sources):
    text = "#include <mutex>\nstd::mutex a;  // std::mutex\nstd::condition_variable_any b;\nForkMutex c;\nstd::call_once(d, e);\n"
    assert lines_of(lint[0].plain_locks(sources({"tc/a.cpp": text}))) == [2, 5]
    assert not list(lint[0].plain_locks(sources({"tc/base/fork.h": text})))


def test_destroyed_statics(lint, sources):
    text = """struct S { static S make(int); };
void f() {
  static const std::map<int, std::string> a = {{1, "a"}};
  static const auto b = make();
  static S c;
  static const auto& d = *new std::vector<int>{1};
  static const int e = g();
  static std::atomic<int> h{0};
  static S* i = nullptr;
}
static const std::string j;
"""
    assert lines_of(lint[0].destroyed_statics(sources({"tc/a.cpp": text}))) == [3, 4, 5]


@pytest.fixture
def imports(lint):
    return importlib.import_module("lint.imports")


def cycles_of(imports, **texts):
    files = {f"python/{name.replace('__', '/')}{'.pyi' if name.endswith('core') else '.py'}": text for name, text in texts.items()}
    files = {path.replace("/init.py", "/__init__.py"): text for path, text in files.items()}
    return [(path, line, re.findall(r"-> (\S+)", message)) for path, line, message in imports.findings(list(files), files, "python")]


@pytest.mark.parametrize("back", ["from .a import x", "import p.a", "from . import a", "from p import a", "def f():\n    from p.a import x",
                                  "if TYPE_CHECKING:\n    from .a import x"])  # fmt: skip
def test_import_cycles(imports, back):
    found = cycles_of(imports, p__init="from .b import x", p__a="import os\nfrom .b import x", p__b=f"from .c import x\nfrom .d import x", p__c="x = 1", p__d=back)
    assert found == [("python/p/a.py", 2, ["p.b", "p.d", "p.a"])]


def test_a_name_of_a_package_is_an_import_of_it_and_a_module_in_it_is_none(imports):
    inside = {"p__q__b": "from ..c import x", "p__q__init": "from .b import x", "p__c": "x = 1"}
    assert cycles_of(imports, p__init="from . import q", **inside) == []
    assert cycles_of(imports, p__init="from . import q", **{**inside, "p__c": "from . import version"}) == [("python/p/__init__.py", 1, ["p.q", "p.q.b", "p.c", "p"])]


def test_each_knot_of_modules_is_told_once_and_stubs_count(imports):
    knots = {"p__a": "from .b import x", "p__b": "from .a import x", "p__c": "from .core import x", "p__core": "from .c import x\nfrom .a import x"}
    assert [path for path, _, _ in cycles_of(imports, **knots)] == ["python/p/a.py", "python/p/c.py"]


@pytest.fixture
def prose(lint):
    return importlib.import_module("lint.prose")


def test_code_is_no_prose(prose):
    page = "One `what those` two [three](what-those.md)\n<!-- those -->\n```\nwhat is it is\n```\nbecause\n"
    counts = prose.measure(page)
    assert (counts.words, counts.what, counts.those, counts.found) == (4, 0, 0, ()) and counts.connectives == 250


@pytest.mark.parametrize("sentence", ["The sum of what remains.", "What is illegal is an error.", "The order is that of the text.",
                                      "He signs the code.", "Ranges are known. Who shares options opens it."])
def test_sentences_that_readers_stumble_on(prose, sentence):
    assert [line for line, _ in prose.measure(f"```\ncode\n```\n{sentence}\n").found] == [4]


def test_rates_of_words(prose):
    page = "word " * 497
    assert list(prose.measure(page + "because and because").faults()) == []
    assert len(list(prose.measure(page + "what those what").faults())) == 2
    assert len(list(prose.measure(page + "what those those").faults())) == 2
    assert list(prose.measure("what those what").faults()) == []


def test_pages_meet_the_rates(prose, tmp_path):
    (tmp_path / "README.md").write_text("The sum of what remains.")
    (tmp_path / "docs" / "lessons").mkdir(parents=True)
    (tmp_path / "docs" / "good.md").write_text("A page.")
    (tmp_path / "docs" / "lessons" / "bad.md").write_text("what " * 500)
    files = ["README.md", "docs/good.md", "docs/lessons/bad.md", "docs/lessons/deep/er.md", "tools/a.py"]
    assert [path for path, _, _ in prose.findings(tmp_path, files)] == ["README.md", "docs/lessons/bad.md", "docs/lessons/bad.md"]
