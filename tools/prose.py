"""The prose of the pages as a table: words, and "what", "those" and words that name a reason, in 1000 words.

    prose.py [--found] [PAGE...]     without pages, README.md, docs and lessons; --found lists sentences to rewrite

The bounds are in lint/prose.py; `make lint` keeps the pages within them.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from lint import prose  # noqa: E402
from lint.lint import ROOT, tracked_files  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--found", action="store_true", help="list the sentences that a pattern finds")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    pages = arguments.pages or prose.pages_of(tracked_files())
    print("| page | words | what | those | connectives | patterns | meets the bounds |\n|---|---|---|---|---|---|---|")
    for page in pages:
        counts = prose.measure((ROOT / page).read_text(encoding="utf-8"))
        good = not counts.found and not list(counts.faults())
        print(f"| {page} | {counts.words} | {counts.what:.1f} | {counts.those:.1f} | {counts.connectives:.1f} | {len(counts.found)} "
              f"| {'yes' if good else 'no'} |")
    if arguments.found:
        for page in pages:
            for line, message in prose.measure((ROOT / page).read_text(encoding="utf-8")).found:
                print(f"{page}:{line}: {message}")


if __name__ == "__main__":
    main()
