"""`Executable.graph`: what runs each node, and its picture."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest

import tensor_comprehensions as tc

TEXT = """
def fc(float(N,I) X, float(O,I) W) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i) }
def positive(float(N,C) X) -> (Y) { Y(n,c) = fmax(X(n,c), 0) }
def both(float(N,C) A, float(N,C) B) -> (Y) { Y(n,c) = A(n,c) + B(n,c) }
def halve(float(P,Q) W) -> (H) { H(p,q) = W(p,q) / 2 }
def net(float(N,C) X, float(C,C) W) -> (Y) {
  H = halve(W)
  A = fc(X, H)
  B = positive(A)
  D = fc(B, H)
  Y = both(D, B)
}
"""
X, W = np.ones((4, 8), np.float32), np.ones((8, 8), np.float32)


@pytest.fixture
def graph():
    return tc.compile(tc.define(TEXT).net, X, W, constants=["W"], partition="each").graph


def test_the_nodes_of_a_graph(graph):
    assert [(node.name, node.inputs, node.outputs) for node in graph.nodes] == [
        ("halve", ("W",), ("H",)),
        ("fc", ("X", "H"), ("A",)),
        ("positive", ("A",), ("B",)),
        ("fc", ("B", "H"), ("D",)),
        ("both", ("D", "B"), ("Y",)),
    ]
    assert [node.runs for node in graph.nodes] == ["folded"] + ["own code"] * 4
    assert [node.part for node in graph.nodes] == [0, 1, 2, 3, 4]
    assert graph.tensors["A"].shape == (4, 8)
    assert str(graph).splitlines()[0].split() == ["0", "H", "=", "halve(W)", "folded"]


def test_nodes_of_one_part_and_of_libraries():
    T = tc.define(TEXT)
    whole = tc.compile(T.net, X, W).graph
    assert len({node.part for node in whole.nodes}) < len(whole.nodes)
    one = tc.compile(T.fc, X, W)
    assert str(one.graph) == "   0  Y = fc(X, W)  own code"
    assert str(tc.load(one.serialise()).graph) == str(one.graph)


def boxes(svg):
    """The middle of each box, by what is written in it."""
    root = xml.fromstring(svg)
    found = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        rectangle = group.find("{http://www.w3.org/2000/svg}rect")
        at = tuple(float(rectangle.get(name)) for name in ("x", "y"))
        found[group.find("{http://www.w3.org/2000/svg}title").text] = at
    return root, found


def test_the_picture(graph):
    root, found = boxes(graph.svg())
    assert len(found) == len(graph.nodes) + 2
    assert len(root.findall("{http://www.w3.org/2000/svg}path")) == sum(len(node.inputs) for node in graph.nodes)
    assert len(set(found.values())) == len(found)
    row = {title.split(": ")[1].split(" = ")[0] if ": " in title else title: y for title, (_, y) in found.items()}
    for node in graph.nodes:
        for name in node.inputs:
            assert row[name] < row[node.outputs[0]]
    width, height = (float(root.get(name)) for name in ("width", "height"))
    assert all(0 <= x <= width - 176 and 0 <= y <= height - 38 for x, y in found.values())
    assert graph._repr_svg_() == graph.svg()


def test_names_are_escaped():
    from tensor_comprehensions.graph import Graph, Node

    xml.fromstring(Graph((Node("<f>", ("a&b",), ("c",), 0, '"x" of <y>'),), {}).svg())
    xml.fromstring(Graph((), {}).svg())
