"""Pages about executables: well-formed, linked, and on their own; read by a browser where there is one."""

import html.parser
import re
import shutil
import subprocess

import numpy as np
import pytest

import tensor_comprehensions as tc

TEXT = """
def other(float(N) X) -> (Z) { Z(i) = X(i) }
def layer(float(M,K) A, float(K,N) B, float(N) b) -> (Y) {
  C(m,n) +=! A(m,k) * B(k,n)
  Y(m,n) = fmax(C(m,n) + b(n), 0)
}
def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }
def twice(float(N,C) X, float(K,C) W, float(C,K) V) -> (Y) { A = fc(X, W)  Y = fc(A, V) }
"""
CPU = "cpu:avx2,cores=1,l1=32k,l2=1m,l3=8m"
A, B, b = np.ones((32, 48), "f4"), np.ones((48, 64), "f4"), np.ones(64, "f4")
VOID = {"meta", "br"}


def layer(**how):
    return tc.compile(tc.define(TEXT).layer, A, B, b, **({"target": CPU} | how))


class Page(html.parser.HTMLParser):
    """The statements that each panel has lines of, and whether tags close as they open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.panels, self.ids, self.heading = [], {}, set(), None
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("h2", "summary"):
            self.heading = ""
        if "data-s" in attributes:
            self.panels.setdefault(self.title, set()).update(attributes["data-s"].split())
        if "id" in attributes:
            assert attributes["id"] not in self.ids
            self.ids.add(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag in ("h2", "summary"):
            self.title, self.heading = self.heading.strip(), None

    def handle_data(self, data):
        if self.heading is not None and self.open[-1] != "small":
            self.heading += data


def test_every_statement_has_lines_in_every_panel():
    found = Page(layer().show())
    for title in ("comprehension", "ranges", "nest", "nest as text", "schedule", "loop nest", "assembly"):
        assert found.panels[title] == {"0-0", "0-1"}, title
    assert {"s0-0", "s0-1"} <= found.ids


def test_a_page_needs_nothing_else(tmp_path):
    kernel = layer()
    text = kernel.show(tmp_path / "page.html", A, B, b)
    assert (tmp_path / "page.html").read_text() == text
    assert "://" not in text and not re.search(r"@import|url\(|<link|<img|src=", text)
    assert "measured" in text and len(text) < 150_000


def test_the_page_of_a_kernel_for_a_gpu_has_its_source():
    found = Page(layer(target="cuda:sm_90").show())
    for title in ("nest", "loop nest", "CUDA"):
        assert found.panels[title] == {"0-0", "0-1"}, title


def test_the_page_of_a_graph_has_a_picture_and_its_parts():
    W, V = np.ones((64, 48), "f4"), np.ones((48, 64), "f4")
    kernel = tc.compile(tc.define(TEXT).twice, A, W, V, target=CPU)
    text = kernel.show(None, A, W, V)
    found = Page(text)
    assert 'aria-label="graph"' in text and "part fc" in text
    assert found.panels["assembly"] == {"0-0", "1-0"}
    assert kernel.show().count("<summary>part") == 2


def test_a_loaded_binary_has_the_page_of_its_source():
    text = tc.load(layer().serialise()).show()
    Page(text)
    assert "fmax" in text and "roofline" in text


def test_lines_of_assembly_are_those_of_the_kernel():
    kernel = layer()
    (part,) = kernel._sections
    (lines,) = (section["lines"] for section in part["sections"] if section["title"] == "assembly")
    assert "".join(text + "\n" for text, _ in lines) == kernel._assembly()
    of = {name: [text for text, ids in lines if ids == [name]] for name in ("S1", "S2")}
    assert any("vfmadd" in text for text in of["S1"]) and not any("vfmadd" in text for text in of["S2"])
    assert any("vmaxps" in text for text in of["S2"]) and not any("vmaxps" in text for text in of["S1"])


def test_sums_in_lanes_belong_to_their_statement():
    text = "def softmax(float(N,C) X) -> (Y) { s(n) +=! X(n,c)  Y(n,c) = X(n,c) / s(n) }"
    (part,) = tc.compile(tc.define(text).softmax, np.ones((64, 256), "f4"), target=CPU)._sections
    for title in ("loop nest", "assembly"):
        (lines,) = (section["lines"] for section in part["sections"] if section["title"] == title)
        of = {tuple(ids) for _, ids in lines}
        assert {("S1",), ("S2",)} <= of, title
    lanes = [ids for text, ids in part["sections"][-2]["lines"] if text.strip().startswith("local_lanes")]
    assert lanes and all(ids == ["S1"] for ids in lanes)


def test_loops_of_the_nest_have_sizes():
    (part,) = layer()._sections
    for nest in part["nests"]:
        for branch in nest["branches"]:
            statement = next(each for each in part["statements"] if each["id"] == branch["statement"])
            count = {}
            for step in [*nest["trunk"], *branch["loops"]]:
                if step["is_loop"]:
                    name = step["index"].rpartition(".")[2]
                    count[name] = count.get(name, 1) * step["iterations"]
            for iterator in statement["iterators"]:
                assert count.get(iterator["name"], 1) >= iterator["extent"]


def test_explain_of_a_def_is_about_it_alone():
    text = layer().explain()
    assert "def layer" in text and "other" not in text and "Z(i)" not in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## work", "## comprehension", "## ranges", "## nest", "## schedule", "## loop nest", "## assembly"
    ]


def test_notebooks_show_a_short_form():
    assert "show()" in layer()._repr_html_() and "fmax" in layer()._repr_html_()
    W = np.ones((64, 48), "f4")
    graph = tc.compile(tc.define(TEXT).twice, A, W, W.T.copy(), target=CPU).graph
    assert "<svg" in graph._repr_html_() and "own code" in graph._repr_html_()


@pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium here: apt-get install chromium")
def test_a_browser_lights_what_is_pinned(tmp_path):
    layer().show(tmp_path / "page.html")
    how = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    url = f"file://{tmp_path / 'page.html'}#pin=0-1"
    dom = subprocess.run([*how, url], capture_output=True, text=True, timeout=60).stdout
    lit = re.findall(r'class="([^"]*)" data-s="([^"]*)"', dom)
    assert {names for classes, names in lit if "on" in classes.split()} == {"0-1"}
    assert {names for classes, names in lit if "half" in classes.split()} == {"0-0 0-1"}
