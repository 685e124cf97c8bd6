"""The prose of pages: how often a noun is replaced by "what" or "those", and how often a reason is named."""

import re
from dataclasses import dataclass
from pathlib import Path

MOST_WHAT = 2.0  # in 1000 words
MOST_THOSE = 0.7  # in 1000 words
LEAST_CONNECTIVES = 1.0  # in 1000 words
SHORT = 400  # words: in a shorter page one word decides on a rate, so the rates are not asked of it

_CONNECTIVES = re.compile(r"\b(?:however|therefore|because|since|for example)\b", re.I)

# Kinds of sentences that a reader stumbles on, as far as an expression can find them, each with a way out.
PATTERNS = (
    (re.compile(r"\bof what\b", re.I), "name the thing: 'of what'"),
    (re.compile(r"\bwhat (?:is|are)\b[^.;:]{1,60}?\b(?:is|are)\b", re.I), "name the subject: 'what is ... is ...'"),
    (re.compile(r"\b(?:is|are) (?:that|those) of\b", re.I), "repeat the noun: 'is that of'"),
    (re.compile(r"\b(?:he|his|him|himself)\b", re.I), "say 'you', or name the program: generic 'he'"),
    (re.compile(r"\bas what\b", re.I), "name the thing: 'as what'"),
    (re.compile(r"(?:^|[.:;] )Who \w+s\b"), "say 'to ..., do ...': 'Who ... does'"),
    (re.compile(r"\bbut for (?:one|the|those|what)\b", re.I), "say 'except'"),
)


@dataclass(frozen=True)
class Prose:
    """Counts of a page's prose."""

    words: int
    what: float  # in 1000 words, as all rates
    those: float
    connectives: float
    found: tuple  # (line, message) of patterns

    def faults(self):
        """Why the page does not meet the rates, one text each."""
        if self.words >= SHORT:
            if self.what > MOST_WHAT:
                yield f"'what' stands {self.what:.1f} times in 1000 words, at most {MOST_WHAT}: name the thing"
            if self.those > MOST_THOSE and self.those * self.words > 1500:  # a single one is no habit
                yield f"'those' stands {self.those:.1f} times in 1000 words, at most {MOST_THOSE}: repeat the noun"
            if self.connectives < LEAST_CONNECTIVES:
                yield (f"'because', 'however', 'therefore', 'since' and 'for example' stand {self.connectives:.1f} times in "
                       f"1000 words, at least {LEAST_CONNECTIVES}: say how sentences are related")


def without_code(text):
    """\\p text with fenced blocks, code in lines, comments and addresses of links as blanks; lines stay where they are."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    text = re.sub(r"^(```+|~~~+).*?^\1[ \t]*$", blank, text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", blank, text, flags=re.S)
    return re.sub(r"\]\([^)\s]*\)", blank, text)


def measure(text):
    """The counts of a page of Markdown."""
    prose = without_code(text)
    words = len(re.findall(r"[A-Za-z][A-Za-z'’-]*", prose))
    rate = 1000 / max(words, 1)
    found = tuple(sorted((prose.count("\n", 0, match.start()) + 1, message)
                         for pattern, message in PATTERNS for match in pattern.finditer(prose)))
    return Prose(words, rate * len(re.findall(r"\bwhat\b", prose, re.I)), rate * len(re.findall(r"\bthose\b", prose, re.I)),
                 rate * len(_CONNECTIVES.findall(prose)), found)


def pages_of(files):
    """The pages that are prose: README.md, docs and lessons."""
    return [file for file in files if file == "README.md" or re.fullmatch(r"docs/(?:lessons/)?[^/]+\.md", file)]


def findings(root, files):
    """(path, line, message) of the pages that do not meet the rates, and of sentences to rewrite."""
    for page in pages_of(files):
        prose = measure((Path(root) / page).read_text(encoding="utf-8"))
        yield from ((page, 1, fault) for fault in prose.faults())
        yield from ((page, line, message) for line, message in prose.found)
