"""The statistics and the picture of benchmarks/price.py, of measured mappings that are made up."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import price  # noqa: E402


def mapping(seconds, predicted, added=0, rules=False):
    return {"seconds": seconds, "predicted": predicted, "added": added, "rules": rules, "difference": 0, "mapping": "", "price": ""}


@pytest.fixture
def made_up(monkeypatch):
    rows = [mapping(2e-6 * k, 1e-6 * k) for k in range(2, 8)]
    rows += [mapping(3e-6, 1.005e-6, rules=True), mapping(6e-6, 1e-6, added=3), mapping(1e-9, 1, added=1) | {"difference": 1}]
    monkeypatch.setattr(price, "priced", lambda program: rows if program == "known" else [])


def test_ranks_of_equal_ones_share_their_mean():
    assert price.ranks([3, 1, 3, 2]) == [2.5, 0, 2.5, 1]
    assert price.spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert price.spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)


def test_of_mappings_that_prices_do_not_tell_apart_the_plainest_counts(made_up):
    row = price.row("known")
    assert row["count"] == 8, "wrong results are left out"
    assert row["regret"] == pytest.approx(1), "3 us of the least, not the 6 us of more code"
    assert row["rules"] == pytest.approx(1)
    assert price.row("unknown") is None


def test_picture(made_up, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    price.report(["known", "unknown"], 1, str(tmp_path / "price.svg"))
    assert "| known | 8 |" in capsys.readouterr().out
    assert (tmp_path / "price.svg").read_text().count("known") >= 1
