"""C++ sources as the lint sees them: code without comments and strings, functions, declarations, includes."""

import re
from dataclasses import dataclass, field
from pathlib import Path

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignof", "alignas", "assert",
                  "static_assert", "defined", "noexcept", "requires", "constexpr", "new", "throw", "explicit", "void",
                  "bool", "int", "double", "float", "auto"}


@dataclass
class Function:
    """A function as it stands in a source: where, how long, and whether a comment stands before it."""

    name: str
    line: int
    lines: int = 0  # of the definition; 0 for a declaration
    documented: bool = False
    is_public: bool = True
    head: str = ""  # what stands before its body


@dataclass
class Source:
    """A header or source file."""

    path: Path
    text: str
    code: str = field(init=False)  # comments and what strings hold are blanks; lines stay where they are

    def __post_init__(self):
        self.code = _TOKEN.sub(_blank, self.text)

    @classmethod
    def read(cls, path):
        return cls(Path(path), Path(path).read_text(encoding="utf-8"))

    def includes(self):
        """(line, name, is_system) of each include."""
        return [(self.text.count("\n", 0, m.start(1)) + 1, m.group(2), m.group(1) == "<")
                for m in _INCLUDE.finditer(self.text)]

    def words(self):
        """The identifiers of the code, those of includes left out."""
        return set(re.findall(r"[A-Za-z_]\w*", _INCLUDE.sub("", self.code)))

    def definitions(self):
        """The functions with a body, member functions and those in anonymous namespaces too; lambdas are part of them."""
        return [f for f in _walk(self) if f.lines]

    def interface(self):
        """The functions of namespaces and the public ones of classes, declared or defined, in their order."""
        return [f for f in _walk(self) if f.is_public]


def _blank(match):
    text = match.group(0)
    if text.startswith("/"):
        return re.sub(r"[^\n]", " ", text)
    return text[0] + re.sub(r"[^\n]", " ", text[1:-1]) + text[-1]


def _walk(source):
    """Functions at namespace scope and public ones of classes, by counting braces."""
    code = re.sub(r"(?m)^[ \t]*#.*(?:\\\n.*)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), source.code)
    scopes, start, position = [], 0, 0  # a scope is "namespace", "public" or "private" (of a class)
    while position < len(code):
        c = code[position]
        if c == ";":
            head = code[start:position]
            if all(s != "private" for s in scopes):
                yield from _function(source, head, start, 0)
            start = position + 1
        elif c == ":" and scopes and scopes[-1] != "namespace" and code[position - 1] != ":" and code[position + 1] != ":":
            label = code[start:position].split()
            if label and label[-1] in ("public", "private", "protected"):
                scopes[-1] = "public" if label[-1] == "public" else "private"
                start = position + 1
        elif c == "{":
            head = code[start:position]
            kind = _scope_of(head)
            if kind:
                scopes.append(kind if all(s != "private" for s in scopes) else "private")
                start = position + 1
            else:
                end = _closing(code, position)
                if _is_function(head):
                    visible = all(s != "private" for s in scopes)
                    found = list(_function(source, head, start, code.count("\n", start, end) + 1))
                    for function in found:
                        function.lines = code.count("\n", _first(code, start), end) + 1
                        function.is_public = visible
                    yield from found
                    position, start = end, end + 1
                else:
                    position = end
        elif c == "}":
            if scopes:
                scopes.pop()
            start = position + 1
        position += 1


def _scope_of(head):
    words = re.sub(r"<[^<>]*>", "", head)
    if re.search(r"\bnamespace\b[\s\w:]*$", words) or re.search(r'\bextern\s*"\s*"?\s*$', words):
        return "namespace"
    if "(" in re.sub(r"alignas\s*\([^)]*\)", "", words) or re.search(r"=\s*$", words):
        return None
    if re.search(r"\b(struct|union)\b", words):
        return "public"
    return "private" if re.search(r"\bclass\b", words) and "enum" not in words else None


def _is_function(head):
    return _name_of(head) is not None


def _name_of(head):
    """The name of the function that \\p head declares, else None."""
    bare = re.sub(r"\[\[[^\]]*\]\]", "", head).strip()
    bare = re.sub(r"^(template\s*<(?:[^<>]|<[^<>]*>)*>\s*)+", "", bare)
    if re.match(r"(using|typedef|friend|static_assert|return|extern\s+template)\b", bare):
        return None
    match = re.search(r"(operator\s*(?:\(\)|[^\s\w(]+|\w+)|~?[A-Za-z_]\w*)\s*\(", bare)
    if not match or match.group(1) in _NOT_FUNCTIONS:
        return None
    before = bare[: match.start()]
    if "=" in before or re.search(r"[(,]\s*$", before):
        return None
    if re.match(r"\s*\*|\s*&", bare[match.end():]) and not before.strip():
        return None
    return match.group(1)


def _function(source, head, start, lines):
    name = _name_of(head)
    if name is None or re.search(r"=\s*(default|delete)\s*$", head):
        return
    line_start = _first(source.code, start)
    line = source.text.count("\n", 0, line_start) + 1
    yield Function(name, line, lines, _documented(source, line), head=head.strip())


def _first(code, start):
    """Where what follows \\p start begins, after blanks."""
    match = re.compile(r"\S").search(code, start)
    return match.start() if match else start


def _documented(source, line):
    """Does a comment stand before line, before the group of lines it is part of, or behind it? A type that is closed on
    the line above belongs to the group: its comment speaks of the function that makes it."""
    text = source.text.split("\n")
    if "//" in text[line - 1]:
        return True
    above = line - 2
    while above >= 0 and text[above].strip():
        stripped = text[above].strip()
        if stripped.startswith("//") or stripped.endswith("*/"):
            return True
        if stripped.endswith("{") or stripped in ("public:", "private:", "protected:"):
            return False
        above = _head_of_type(text, above) - 1 if stripped == "};" else above - 1
    return False


def _head_of_type(text, closing):
    """The line on which the type begins that ends on line closing."""
    margin = re.match(r"\s*", text[closing]).group(0)
    for line in range(closing - 1, -1, -1):
        if re.match(margin + r"(struct|class|enum|union)\b", text[line]):
            return line
    return closing


def _closing(code, opening):
    depth = 0
    for position in range(opening, len(code)):
        if code[position] == "{":
            depth += 1
        elif code[position] == "}":
            depth -= 1
            if depth == 0:
                return position
    return len(code) - 1
