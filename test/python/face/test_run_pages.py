"""Lessons and the cookbook: their code runs, and prints what the pages say."""

import importlib.util
import json
import pathlib
import re
import sys

import pytest

import tensor_comprehensions as tc

ROOT = pathlib.Path(__file__).resolve().parents[3]
LESSONS = sorted((ROOT / "docs" / "lessons").glob("[0-9]*.md"))
PAGES = [*LESSONS, *(ROOT / "docs" / f"{name}.md" for name in ("arrays", "cookbook", "coming_from", "environment", "troubleshooting"))]
NOTEBOOKS = sorted((ROOT / "docs" / "lessons").glob("*.ipynb"))

spec = importlib.util.spec_from_file_location("run_page", ROOT / "tools" / "run_page.py")
run_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_page)


@pytest.fixture(autouse=True)
def as_in_a_new_process():
    """torch.compile has seen no code, in no sizes, that a page compiles."""
    if "torch" in sys.modules:
        sys.modules["torch"]._dynamo.reset()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore")
def test_code_of_a_page_runs(page):
    if page.stem == "arrays":
        pytest.importorskip("jax")
    assert run_page.run(page) > 0 or page.stem == "10_cpp"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_their_pages(path):
    assert path.read_text(encoding="utf-8") == run_page.notebook(path.with_suffix(".md")), "run tools/run_page.py --notebook"
    namespace = {"__name__": "notebook"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            run_page.run_code("python", "".join(cell["source"]), namespace, str(path))


def test_there_are_ten_lessons_and_two_notebooks():
    index = (ROOT / "docs" / "lessons" / "README.md").read_text(encoding="utf-8")
    assert len(LESSONS) == 10 and len(NOTEBOOKS) == 2
    assert all(f"({path.name})" in index for path in [*LESSONS, *NOTEBOOKS])


def test_the_program_of_the_last_lesson_is_the_example():
    page = (ROOT / "docs" / "lessons" / "10_cpp.md").read_text(encoding="utf-8")
    assert f"```cpp\n{(ROOT / 'examples' / '06_first_call.cpp').read_text(encoding='utf-8')}```" in page


def test_the_page_of_environment_variables_names_all():
    sources = [path for folder in ("tc", "python") for kind in ("*.cpp", "*.py") for path in (ROOT / folder).rglob(kind)]
    read = {name for path in sources for name in re.findall(r'"(TC_[A-Z]+(?:_[A-Z]+)*)"', path.read_text(encoding="utf-8"))}
    named = set(re.findall(r"\b(TC_[A-Z_]+)", (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")))
    assert named == read


def test_a_page_that_prints_something_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 3\n```\ntext\n```python\nprint(x, 4)\n```\n```\n3 …\n```\n```python\nprint(x)\n```\n```\n4\n```\n")
    with pytest.raises(run_page.PageError, match="page.md:12: the block prints something else"):
        run_page.run(page)
    assert run_page.run(page, write=True) == 3 and page.read_text().endswith("```\n3 …\n```\n```python\nprint(x)\n```\n```\n3\n```\n")
    assert run_page.run(page) == 3


def api_page():
    pytest.importorskip("jax")
    made_by = importlib.util.spec_from_file_location("api_page", ROOT / "tools" / "api_page.py")
    module = importlib.util.module_from_spec(made_by)
    made_by.loader.exec_module(module)
    return module


def test_the_reference_names_all_that_is_public():
    named = re.findall(r"^(?:### |\*\*`)tc\.([\w.]+)", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.M)
    assert set(tc.__all__) - {"cache", "virtual"} <= set(named)
    assert named == [name for names in api_page().SECTIONS.values() for name in names]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="annotations are written otherwise by other versions of Python")
def test_the_reference_is_made_of_the_docstrings():
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == api_page().page(), "run tools/api_page.py"
