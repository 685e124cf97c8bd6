"""What the pages of docs/ say about the compiler's choices, and where their links lead."""

import contextlib
import pathlib
import re

import pytest

import tensor_comprehensions as tc

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MATMUL = (ROOT / "docs" / "matmul.md").read_text(encoding="utf-8")
TARGETS = {"AVX-512": "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m", "AVX2": "cpu:avx2,cores=2,l1=48k,l2=2m,l3=32m"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_to_headings(page):
    links = re.findall(r"\]\(([^)#:\s]*\.md)?#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    assert [(path, anchor) for path, anchor in links if anchor not in anchors(page.parent / path if path else page)] == []


def is_function_of_the_language(name):
    """Whether a text may call tc.NAME, with some number of arguments."""
    for arguments in ("X(i)", "X(i), X(i)", "X(i), X(i), X(i)", "X(i), X(i), X(i), X(i)"):
        with contextlib.suppress(tc.Error):
            return bool(tc.define(f"def f(float(N) X) -> (Y) {{ Y(i) = tc.{name}({arguments}) }}"))
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_of_the_package_exist(page):
    def exists(path):
        found = tc
        for name in path.split("."):
            found = getattr(found, name, None)
        return found is not None or is_function_of_the_language(path)

    named = set(re.findall(r"(?<![\w./:\"-])tc\.((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)", page.read_text(encoding="utf-8")))
    assert sorted(path for path in named if not exists(path)) == []


def choice(product, extent, target, **how):
    """The line in which the strategy says what it chose for `product`, for example "X(m,k)·W(n,k)"."""
    x, w = re.fullmatch(r"X\((.*)\)·W\((.*)\)", product).groups()
    text = f"def product(float({x.upper()}) X, float({w.upper()}) W) -> (Y) {{ Y(m,n) +=! X({x}) * W({w}) }}"
    square = tc.spec((extent, extent), "float32")
    explanation = tc.compile(tc.define(text).product, square, square, target=target, **how).explain()
    return explanation.split("## schedule\n")[1].splitlines()[0]


ROWS = re.findall(r"^\| (X.*·W.*), (\d+)³ \| ([^ ,|]+).*? \| (.*?) \| (.*?) \| (.*?) \|$", MATMUL, re.M)


def test_the_table_of_products_is_read():
    assert len(ROWS) == 6


@pytest.mark.parametrize("product, extent, target, tile, blocks, packed", ROWS)
def test_products_get_the_nests_of_the_table(product, extent, target, tile, blocks, packed):
    line = choice(product, int(extent), TARGETS[target])
    lanes, rows, columns = re.fullmatch(r"(\d+) `n`, (\d+) × (\d+)", tile).groups()
    of_rows, of_columns, of_k = (re.search(rf"(\d+) {word}", blocks) for word in ("rows", "columns", "of `k`"))
    assert f"register {rows}x{columns}, " in line
    assert f"S1: i1 x{lanes}, " in line
    assert f"blocks {of_rows.group(1) if of_rows else 0}x{of_columns.group(1)}, " in line
    assert re.findall(r"S1: i2 in blocks of (\d+)", line) == ([of_k.group(1)] if of_k else [])
    assert f"pack read 1 of S1 in panels of {columns} i1" in line
    assert ("pack read 0 of S1" in line) == ("X" in packed)


def test_the_page_quotes_the_choice():
    assert choice("X(m,k)·W(n,k)", 1024, TARGETS["AVX-512"], options="parallel_along=n") in MATMUL.splitlines()
