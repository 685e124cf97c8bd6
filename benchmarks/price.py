"""How well the price of a mapping says how fast it runs: random legal mappings of many programs, predicted and measured.

    benchmarks/price.py measure --count 60       # appends to build/price/PROGRAM.jsonl; in pieces: --programs, --seconds
    benchmarks/price.py report                   # the table, with the price of today; --misses N shows the worst
    benchmarks/price.py turns --threads 1        # what rules and the searches by price choose, measured in turns
    benchmarks/price.py turns --drawn 3001 120   # the same of programs drawn by these seeds
    benchmarks/price.py decisions --threads 1    # what prices make of each decision of the rules alone, measured in turns
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "build/bin/price_model"
FOLDER = ROOT / "build/price"
RULES = "construct=rules"


def names():
    return subprocess.run([TOOL, "list"], check=True, capture_output=True, text=True).stdout.split()


def records(program):
    path = FOLDER / f"{program}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def measure(programs, count, seconds, seed):
    """Measures the programs that have fewer than `count` mappings, until `seconds` are over."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    end = time.time() + seconds
    for program in programs:
        have = sum("seconds" in record for record in records(program))
        if have >= count or time.time() > end:
            continue
        with open(FOLDER / f"{program}.jsonl", "w") as out:
            process = subprocess.Popen([TOOL, "measure", program, str(count), str(seed)], stdout=out)
            try:
                process.wait(max(end - time.time(), 5) + 20)
            except subprocess.TimeoutExpired:
                process.kill()
        print(program, sum("seconds" in record for record in records(program)), flush=True)


def ranks(values):
    """The rank of each value; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end + 1 < len(order) and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for position in range(begin, end + 1):
            result[order[position]] = (begin + end) / 2
        begin = end + 1
    return result


def spearman(first, second):
    """The correlation of ranks; 1 where all are equal."""
    a, b = ranks(first), ranks(second)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return 1.0
    return statistics.correlation(a, b)


def priced(program):
    """The measured mappings of `program` with the price of today."""
    path = FOLDER / f"{program}.jsonl"
    if not path.exists():
        return []
    with open(path) as lines:
        out = subprocess.run([TOOL, "price", program], check=True, stdin=lines, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def row(program):
    """The numbers of one program: correlation, what the best predicted, of equals the plainest, and the rules' choice lose, the bias."""
    all_rows = [r for r in priced(program) if r["difference"] < 1e-3]
    if len(all_rows) < 5:
        return None
    measured = [r["seconds"] for r in all_rows]
    predicted = [r["predicted"] for r in all_rows]
    best = min(measured)
    least = min(predicted)
    alike = [r for r in all_rows if r["predicted"] <= least * 1.01]  # which prices do not tell apart
    chosen = min(alike, key=lambda r: (r["added"], r["predicted"]))
    rules = next((r for r in all_rows if r["rules"]), None)
    ratios = sorted(p / m for p, m in zip(predicted, measured))
    return {
        "program": program,
        "count": len(all_rows),
        "spearman": spearman(predicted, measured),
        "regret": chosen["seconds"] / best,
        "chosen": chosen["predicted"],
        "rules": rules["seconds"] / best if rules else float("nan"),
        "bias": ratios[len(ratios) // 2],
        "best_us": best * 1e6,
        "rows": all_rows,
    }


def draw(rows, path):
    """Draws the mappings of each program of `rows`, measured to the right, predicted upwards, both over the fastest measured; the
    chosen one, of those the price likes best, as a ring. Needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    columns = 8
    figure, axes = plt.subplots(-(-len(rows) // columns), columns, figsize=(16, 2 * -(-len(rows) // columns)), squeeze=False)
    for place in axes.flat[len(rows):]:
        place.axis("off")
    for place, r in zip(axes.flat, rows):
        unit = r["best_us"] / 1e6
        measured = [x["seconds"] / unit for x in r["rows"]]
        predicted = [x["predicted"] / unit for x in r["rows"]]
        ends = min(measured + predicted) / 1.2, max(measured + predicted) * 1.2
        place.plot(ends, ends, color="#999999", linewidth=0.8)
        place.scatter(measured, predicted, s=5, color="#1f77b4", linewidths=0)
        place.scatter([r["regret"]], [r["chosen"] / unit], s=40, facecolors="none", edgecolors="#d62728")
        place.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
        place.set_title(f"{r['program']} {r['spearman']:.2f}, {r['regret']:.2f}", fontsize=8)
        place.tick_params(labelsize=6, which="both")
        place.minorticks_off()
    figure.tight_layout(pad=0.4)
    figure.savefig(path, dpi=80)


def report(programs, misses, picture):
    rows = [r for r in map(row, programs) if r]
    if picture and rows:
        draw(rows, picture)
    print("| program | mappings | Spearman | best predicted / best | rules / best | predicted / measured | best, us |")
    print("|---|---|---|---|---|---|---|")
    for r in rows:
        print(
            f"| {r['program']} | {r['count']} | {r['spearman']:.2f} | {r['regret']:.2f} | {r['rules']:.2f} "
            f"| {r['bias']:.2f} | {r['best_us']:.1f} |"
        )
    if rows:
        correlations, regrets = [r["spearman"] for r in rows], [r["regret"] for r in rows]
        print(
            f"\n{len(rows)} programs, Spearman: median {statistics.median(correlations):.2f}, "
            f"least {min(correlations):.2f}; regret: median {statistics.median(regrets):.2f}, most {max(regrets):.2f}"
        )
    for r in rows if misses else []:
        print("\n##", r["program"])
        measured = {id(x): k for x, k in zip(r["rows"], ranks([x["seconds"] for x in r["rows"]]))}
        predicted = {id(x): k for x, k in zip(r["rows"], ranks([x["predicted"] for x in r["rows"]]))}
        worst = sorted(r["rows"], key=lambda x: -abs(measured[id(x)] - predicted[id(x)]))[:misses]
        for x in worst + sorted(r["rows"], key=lambda x: x["seconds"])[:2]:
            print(f"{x['seconds'] * 1e6:9.1f} us, predicted {x['predicted'] * 1e6:9.1f}  {x['mapping']}\n    {x['price']}")


def measured(command, programs, threads, seconds):
    """What the tool's `command` prints of each program, kept in a file; begins none after `seconds`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{command}_{threads}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    end = time.time() + seconds
    for program in programs:
        if program in known or time.time() > end:
            continue
        run = subprocess.run([TOOL, command, program, str(threads)], capture_output=True, text=True)
        known[program] = [json.loads(line) for line in run.stdout.splitlines()]
        path.write_text(json.dumps(known, indent=1))
    return {program: known[program] for program in programs if known.get(program)}


def turns(programs, threads, seconds):
    """Measures rules beside searches, until `seconds` are over; prints what is measured so far."""
    known = measured("turns", programs, threads, seconds)
    rows = {p: {r["choice"]: r for r in known[p]} for p in known}
    choices = ["", "construct", "construct:roller", "construct:gensor"]
    print("| program | rules, us | checked | best_first | roller | gensor | compile ms: rules | checked | best_first |")
    print("|---|---|---|---|---|---|---|---|---|")
    for program, row_of in rows.items():
        rules = row_of[RULES]["seconds"]
        shares = " | ".join(f"{rules / row_of[c]['seconds']:.2f}" for c in choices)
        wrong = [c for c in choices if row_of[c]["difference"] > 1e-3]
        print(
            f"| {program} | {rules * 1e6:.1f} | {shares} | {row_of[RULES]['compile_ms']:.0f} "
            f"| {row_of['']['compile_ms']:.0f} | {row_of['construct']['compile_ms']:.0f} |" + (f" WRONG {wrong}" if wrong else "")
        )
    for choice in choices if rows else []:
        differ = [r[RULES]["seconds"] / r[choice]["seconds"] for r in rows.values() if r[choice]["mapping"] != r[RULES]["mapping"]]
        ratios = differ + [1] * (len(rows) - len(differ))
        print(f"{choice or 'checked'}: rules' time over its own, 1 where mappings are the same: {len(differ)} of {len(rows)} differ by "
              f"{statistics.geometric_mean(differ or [1]):.3f}, geometric mean of all {statistics.geometric_mean(ratios):.3f}, "
              f"least {min(ratios):.2f}, below 0.97 in {sum(r < 0.97 for r in ratios)}")


def decisions(programs, threads, seconds):
    """Measures each decision of the rules beside that of prices, until `seconds` are over; prints what is measured so far."""
    known = measured("decisions", programs, threads, seconds)
    gains = {}
    for program, (rules, *others) in known.items():
        for row in others:
            if row["decision"] == "same" or row["same"]:
                continue
            if row["difference"] > 1e-3:
                print("WRONG", program, row)
            gains.setdefault(row["decision"], []).append((rules["us"] / row["us"], program))
    print(f"| decision, {threads} threads, of {len(known)} programs | change | geometric mean | least | most | below 0.97 |")
    print("|---|---|---|---|---|---|")
    for decision, pairs in gains.items():
        pairs.sort()
        ratios = [ratio for ratio, _ in pairs]
        slow = ", ".join(f"{program} {ratio:.2f}" for ratio, program in pairs if ratio < 0.97)
        print(f"| {decision} | {len(pairs)} | {statistics.geometric_mean(ratios):.2f} | {ratios[0]:.2f} `{pairs[0][1]}` "
              f"| {ratios[-1]:.2f} `{pairs[-1][1]}` | {slow or '–'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "report", "turns", "decisions"])
    parser.add_argument("--programs", default="", help="names, separated by commas; all without")
    parser.add_argument("--drawn", type=int, nargs=2, metavar=("SEED", "COUNT"), help="programs drawn by seeds, in their place")
    parser.add_argument("--count", type=int, default=60, help="random mappings of a program")
    parser.add_argument("--seconds", type=float, default=80, help="begin no program after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of turns and decisions")
    parser.add_argument("--misses", type=int, default=0, help="show so many of the worst predicted mappings")
    parser.add_argument("--picture", default="", help="draw what is predicted against what was measured to this file, .svg or .png")
    given = parser.parse_args()
    programs = given.programs.split(",") if given.programs else names()
    if given.drawn:
        first, count = given.drawn
        programs = [f"drawn-{seed}" for seed in range(first, first + count)]
    if given.what == "measure":
        measure(programs, given.count, given.seconds, given.seed)
    elif given.what == "turns":
        turns(programs, given.threads, given.seconds)
    elif given.what == "decisions":
        decisions(programs, given.threads, given.seconds)
    else:
        report(programs, given.misses, given.picture)


if __name__ == "__main__":
    main()
