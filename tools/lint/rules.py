"""The rules. Each takes sources and gives findings; `lint.py` runs them over the tree."""

import re
from dataclasses import dataclass
from pathlib import Path

LONGEST_FUNCTION = 60  # lines: what two screens show
FILES_OF_A_FOLDER = 45  # what a reader takes in as a list
DOCUMENTED_SHARE = 0.95  # of the functions of headers that need a contract

# Folders whose headers are passes: a test must call each by name.
PASS_ROOMS = ("tc/polyhedral/schedule", "tc/polyhedral/map", "tc/polyhedral/map_cpu", "tc/polyhedral/map_grid",
              "tc/halide_bridge/stmt", "tc/cpu/stmt")

# What a standard header is included for, where a few words tell.
STANDARD = {
    "algorithm": "all_of any_of none_of sort stable_sort find find_if find_if_not max min clamp max_element min_element "
                 "minmax_element minmax count count_if copy copy_if copy_n transform reverse unique remove remove_if "
                 "erase fill fill_n equal replace replace_if rotate lower_bound upper_bound equal_range includes "
                 "binary_search for_each swap_ranges mismatch search set_union set_intersection set_difference "
                 "next_permutation is_sorted is_permutation partition stable_partition adjacent_find generate "
                 "lexicographical_compare nth_element partial_sort merge iter_swap shuffle ranges",
    "array": "array to_array", "atomic": "atomic atomic_flag memory_order_relaxed atomic_thread_fence atomic_bool "
                                         "atomic_int memory_order_acquire memory_order_release",
    "bit": "bit_cast countr_zero countl_zero popcount has_single_bit bit_ceil bit_floor bit_width endian",
    "cassert": "assert", "cctype": "isalpha isdigit isalnum isspace isupper islower toupper tolower isprint isxdigit",
    "chrono": "chrono", "cmath": "sqrt abs fabs floor ceil log log2 log10 exp pow isnan isinf isfinite fmod lround llround "
                                 "round trunc fma ldexp frexp cbrt erf erfc NAN INFINITY HUGE_VAL signbit copysign nan "
                                 "sin cos tan tanh asin acos atan atan2 fmax fmin exp2 expm1 log1p nextafter nearbyint "
                                 "remainder hypot lgamma tgamma rint ilogb logb scalbn sinh cosh asinh acosh atanh "
                                 "fdim modf cyl_bessel_i",
    "condition_variable": "condition_variable condition_variable_any", "deque": "deque",
    "filesystem": "filesystem", "fstream": "ifstream ofstream fstream",
    "functional": "function hash less greater plus bind ref cref invoke reference_wrapper multiplies minus equal_to "
                  "not_fn",
    "future": "future promise async shared_future packaged_task",
    "iomanip": "setw setprecision setfill hex put_time quoted", "iostream": "cout cerr cin clog",
    "iterator": "back_inserter inserter make_move_iterator advance next prev distance istreambuf_iterator "
                "front_inserter ostream_iterator reverse_iterator iterator_traits",
    "limits": "numeric_limits", "list": "list", "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this addressof allocator "
              "static_pointer_cast dynamic_pointer_cast",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once recursive_mutex",
    "numeric": "accumulate iota gcd lcm partial_sum inner_product reduce transform_reduce exclusive_scan",
    "optional": "optional nullopt make_optional", "queue": "queue priority_queue",
    "random": "mt19937 mt19937_64 uniform_int_distribution uniform_real_distribution random_device "
              "normal_distribution seed_seq",
    "regex": "regex smatch regex_search regex_match regex_replace sregex_iterator",
    "set": "set multiset", "shared_mutex": "shared_mutex shared_lock", "span": "span",
    "sstream": "ostringstream istringstream stringstream", "stack": "stack",
    "string": "string to_string stoi stol stoll stod getline u32string wstring stoull char_traits",
    "string_view": "string_view", "thread": "thread this_thread jthread", "tuple": "tuple tie make_tuple apply",
    "type_traits": "common_type_t is_same_v is_floating_point_v is_integral_v enable_if_t conditional_t decay_t is_signed_v "
                   "remove_cv_t make_unsigned_t is_base_of_v is_unsigned_v remove_reference_t remove_cvref_t "
                   "is_trivially_copyable_v invoke_result_t underlying_type_t is_enum_v is_void_v is_convertible_v "
                   "is_constructible_v is_same is_arithmetic_v make_signed_t false_type true_type add_pointer_t",
    "typeinfo": "typeid type_info", "unordered_map": "unordered_map unordered_multimap", "unordered_set": "unordered_set",
    "utility": "pair move forward swap exchange declval make_pair index_sequence in_range",
    "variant": "variant visit holds_alternative get_if monostate", "vector": "vector",
}


@dataclass(frozen=True)
class Finding:
    """One thing to mend: where, by which rule, and what to do."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def long_functions(sources):
    """Functions of more than LONGEST_FUNCTION lines. Rows of tables do not count, and one that is a single literal is a
    text, not code."""
    for path, source in sources.items():
        for function in source.definitions():
            body = source.text.split("\n")[function.line - 1: function.line - 1 + function.lines]
            length = sum(not re.match(r"\s*\{.*\},$", line) for line in body)
            if length > LONGEST_FUNCTION and 'R"' not in "\n".join(body[:3]):
                yield Finding(path, function.line, "function-length",
                              f"'{function.name}' has {length} lines, at most {LONGEST_FUNCTION} are read at a glance")


def needs_contract(source, function, classes):
    """Whether a function of a header says more than its declaration does: constructors, destructors and operators are
    told by their class, overrides by what they override, accessors by their name."""
    if function.name.strip("~") in classes or function.name.startswith("operator"):
        return False
    if re.search(r"\boverride\b[^()]*$", function.head):
        return False
    line = source.text.split("\n")[function.line - 1]
    return not re.search(r"\{ return [\w.]+;? \}", line)


def functions_without_contract(sources):
    """Functions of headers without a comment before, beside, or at the head of their group."""
    missing, count = [], 0
    for path, source in sources.items():
        if not path.endswith(".h"):
            continue
        classes = set(re.findall(r"\b(?:class|struct)\s+(\w+)", source.code))
        for function in source.interface():
            if not needs_contract(source, function, classes):
                continue
            count += 1
            if not function.documented:
                missing.append(Finding(path, function.line, "contract", f"'{function.name}' has no contract comment"))
    if count and 1 - len(missing) / count < DOCUMENTED_SHARE:
        yield from missing


def passes_without_tests(sources, tests):
    """Headers of PASS_ROOMS none of whose functions a test names."""
    words = set().union(*(source.words() for source in tests.values())) if tests else set()
    for path, source in sources.items():
        if not path.endswith(".h") or str(Path(path).parent) not in PASS_ROOMS:
            continue
        names = [f.name for f in source.interface() if not re.search(r"=\s*0$", f.head)]
        if names and not any(name in words for name in names):
            yield Finding(path, 1, "untested-pass", f"no test names {' or '.join(sorted(set(names)))}")


def _declared(source):
    """The names that including a header gives; of libraries it includes, their namespaces."""
    code = source.code
    names = {f.name for f in source.interface()}
    names |= {Path(name).parts[0].removesuffix(".h") for _, name, is_system in source.includes() if is_system}
    names |= set(re.findall(r"\b(?:class|struct|enum class|enum|union|concept)\s+(\w+)", code))
    names |= {part for name in re.findall(r"\bnamespace\s+([\w:]+)", code) for part in name.split("::")[2:]}
    names |= set(re.findall(r"\busing\s+(\w+)\s*=", code))
    for enumerators in re.findall(r"\benum\b[^;{]*\{([^}]*)\}", code):
        names |= set(re.findall(r"\w+", enumerators))
    names |= set(re.findall(r"#\s*define\s+(\w+)", source.text))
    names |= set(re.findall(r"\b(?:constexpr|const|inline|extern)\b[^;{}()]*?\b(\w+)\s*(?:=|\[|;|\{)", code))
    return names - {"tc", "std", "Internal"} - set(STANDARD)


def unused_includes(sources, headers):
    """Includes none of whose names the file uses. The header of a source is what it is for, a fixture hands on what it
    includes, and a pragma, "IWYU pragma: keep" or "export", says of others what they are included for."""
    declared = {path: _declared(source) for path, source in headers.items()}
    for path, source in sources.items():
        words = source.words()
        for line, name, is_system in source.includes():
            if Path(name).stem == Path(path).stem or name.endswith("_fixture.h"):
                continue
            if "IWYU pragma:" in source.text.split("\n")[line - 1]:
                continue
            given = set(STANDARD[name].split()) if is_system and name in STANDARD else declared.get(name)
            if given and not given & words:
                yield Finding(path, line, "unused-include", f"nothing of <{name}> is used")


# The one file whose locks are those of the standard library, and what these are called.
OF_LOCKS = "tc/base/fork.h"
_PLAIN_LOCK = re.compile(r"\bstd::((?:recursive_|timed_|recursive_timed_|shared_|shared_timed_)?mutex|once_flag|call_once|"
                         r"condition_variable)\b")


def plain_locks(sources):
    """Locks that a forked child finds as its parent's threads held them."""
    for path, source in sources.items():
        if path == OF_LOCKS:
            continue
        for match in _PLAIN_LOCK.finditer(source.code):
            yield Finding(path, source.code.count("\n", 0, match.start()) + 1, "plain-lock",
                          f"std::{match.group(1)} may be held for ever in a forked child: use ForkMutex, ForkSharedMutex or "
                          f"condition_variable_any ({OF_LOCKS})")


_OWN_STATIC = re.compile(r"^[ \t]+static (?:const )?(?:auto|(?:std::)?[A-Za-z]\w*(?:<[^;(){}]*>)?) \w+(?= = |\{|;)", re.M)
_TRIVIAL_STATIC = re.compile(r"static (?:const )?(?:bool|int|double|std::atomic<\w+>|std::size_t|std::u?int\d+_t) ")


def destroyed_statics(sources):
    """Objects local to functions, of types that have destructors, which exit() destroys while threads may use them."""
    for path, source in sources.items():
        for match in _OWN_STATIC.finditer(source.code):
            rest = source.code[match.end():match.end() + 8]
            if _TRIVIAL_STATIC.search(match.group()) or rest.startswith(" = new "):
                continue
            name = match.group().split()[-1]
            yield Finding(path, source.code.count("\n", 0, match.start()) + 1, "destroyed-static",
                          f"exit() destroys '{name}' while threads may use it: write 'static auto& {name} = *new ...'")


def crowded_folders(files):
    """Folders of more than FILES_OF_A_FOLDER files under version control."""
    counts = {}
    for file in files:
        counts.setdefault(str(Path(file).parent), []).append(file)
    for folder, members in sorted(counts.items()):
        if len(members) > FILES_OF_A_FOLDER:
            yield Finding(folder, 1, "crowded-folder",
                          f"{len(members)} files, at most {FILES_OF_A_FOLDER}: give it rooms")
