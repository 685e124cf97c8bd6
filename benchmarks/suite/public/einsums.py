"""The contractions of TCCG and the expressions of opt_einsum, as programs.

TCCG (Springer and Bientinesi) collects contractions of coupled-cluster methods, of changes of basis and of tensor-times-matrix products,
written output-left-right with the fastest index first; here the fastest stands last, so each string is reversed. opt_einsum's own tests hold
the other expressions: diagonals, outer products, sums of everything, and products of up to seven tensors.
"""

import dataclasses
import math
import re
from typing import Dict, List, Sequence, Tuple

import numpy as np

from .program import Program

COUPLED_CLUSTER = """
    ij-ik-kj ij-ikl-ljk ij-kil-lkj ijk-ikl-lj ijk-il-jlk ijk-ilk-jl ijk-ilk-lj ijk-ilmk-mjl ijkl-imjn-lnkm ijkl-imjn-nlmk
    ijkl-imkn-jnlm ijkl-imkn-njml ijkl-imln-jnkm ijkl-imln-njmk ijkl-imnj-nlkm ijkl-imnk-njml ijkl-minj-nlmk ijkl-mink-jnlm
    ijkl-minl-njmk""".split()
CHANGES_OF_BASIS = "aqrs-pa-pqrs abrs-qb-aqrs abcs-rc-abrs".split()
TENSOR_TIMES_MATRIX = """
    abj-bka-kj ajb-kba-jk abjc-cbka-kj ajbc-ckba-jk abjc-kbac-jk abjcd-dkbac-jk adbjc-cbdka-kj ajbdc-ckbad-jk""".split()
TRIPLES = """
    abcijk-ijma-mkbc abcijk-ijmb-mkac abcijk-ijmc-mkab abcijk-ikma-mjbc abcijk-ikmb-mjac abcijk-ikmc-mjab abcijk-jkma-mibc
    abcijk-jkmb-miac abcijk-jkmc-miab abcijk-eiab-jkec abcijk-eiac-jkeb abcijk-eibc-jkea abcijk-ejab-ikec abcijk-ejac-ikeb
    abcijk-ejbc-ikea abcijk-ekab-ijec abcijk-ekac-ijeb abcijk-ekbc-ijea""".split()
PERMUTED = ["abc-bk-akc"]
TCCG = COUPLED_CLUSTER + CHANGES_OF_BASIS + TENSOR_TIMES_MATRIX + TRIPLES + PERMUTED

OPT_EINSUM = """
    a,ab,abc->abc a,b,ab->ab
    ea,fb,gc,hd,abcd->efgh ea,fb,abcd,gc,hd->efgh abcd,ea,fb,gc,hd->efgh
    acdf,jbje,gihb,hfac,gfac,gifabc,hfac cd,bdhe,aidb,hgca,gc,hgibcd,hgac abhe,hidj,jgba,hiab,gab bde,cdh,agdb,hica,ibd,hgicd,hiac
    chd,bde,agbc,hiad,hgc,hgi,hiad chd,bde,agbc,hiad,bdi,cgh,agdb bdhe,acad,hiab,agac,hibd
    ab,ab,c-> ab,ab,c->c ab,ab,cd,cd-> ab,ab,cd,cd->ac ab,ab,cd,cd->cd ab,ab,cd,cd,ef,ef->
    ab,cd,ef->abcdef ab,cd,ef->acdf ab,cd,de->abcde ab,cd,de->be ab,bcd,cd->abcd ab,bcd,cd->abd
    eb,cb,fb->cef dd,fb,be,cdb->cef bca,cdb,dbf,afc-> dcc,fce,ea,dbf->ab fdf,cdd,ccd,afe->ae abcd,ad ed,fcd,ff,bcf->be
    baa,dcf,af,cde->be bd,db,eac->ace fff,fae,bef,def->abd efc,dbc,acf,fd->abe
    ab,ab ab,ba abc,abc abc,bac abc,cba
    ab,bc ab,cb ba,bc ba,cb abcd,cd abcd,ab abcd,cdef abcd,cdef->feba abcd,efdc
    aab,bc->ac ab,bcc->ac aab,bcc->ac baa,bcc->ac aab,ccb->ac
    aab,fa,df,ecc->bde ecb,fef,bad,ed->ac bcf,bbb,fbf,fc-> bb,ff,be->e bcb,bb,fc,fff-> fbb,dfd,fc,fc-> afd,ba,cc,dc->bf
    adb,bc,fa,cfc->d bbd,bda,fc,db->acf dba,ead,cad->bce aef,fbc,dca->bde
    hbc,bdef,cdkj,ji,ikeh,lfo ijab,acd,bce,df,ef->ji ab,cd,ad,cb ab,bc,cd""".split()


def explicit(equation: str) -> str:
    """The equation with its result written out: without one, the letters that occur once, in the order of the alphabet."""
    if "->" in equation:
        return equation
    return equation + "->" + "".join(sorted(letter for letter in set(equation) - {","} if equation.count(letter) == 1))


def subscripts(letters: str) -> str:
    return f"({','.join(letters)})" if letters else ""


def statement(result: str, out: str, tensors: List[str], terms: List[str]) -> str:
    """A product of tensors, summed over the letters that are not in `out`."""
    operator = "+=!" if set("".join(terms)) - set(out) else "="
    return f"  {result}{subscripts(out)} {operator} " + " * ".join(x + subscripts(term) for x, term in zip(tensors, terms))


def text_of(equation: str, pairs: Sequence[Tuple[int, ...]] = ()) -> str:
    """The def of an equation such as `ab,bc->ac`: one statement, or one for each of the `pairs` that `np.einsum_path` gives."""
    terms, _, out = explicit(equation).partition("->")
    terms = terms.split(",")
    tensors = [f"X{k}" for k in range(len(terms))]
    parameters = ", ".join(f"double{subscripts(term.upper())} {x}" for x, term in zip(tensors, terms))
    lines = []
    for step, places in enumerate(pairs[:-1]):
        taken = [(tensors.pop(place), terms.pop(place)) for place in sorted(places, reverse=True)]
        kept = "".join(sorted(set("".join(term for _, term in taken)) & set("".join(terms) + out)))
        lines.append(statement(f"P{step}", kept, *map(list, zip(*taken))))
        tensors.append(f"P{step}")
        terms.append(kept)
    lines.append(statement("Y", out, tensors, terms))
    return f"def contraction({parameters}) -> (Y) {{\n" + "\n".join(lines) + "\n}"


def order_of_pairs(equation: str, sizes: Dict[str, int]) -> List[Tuple[int, ...]]:
    """The places of the tensors that are multiplied in each step, in the order that NumPy finds for the sizes."""
    shapes = [np.broadcast_to(0, [sizes[letter] for letter in term]) for term in equation.partition("->")[0].split(",")]
    return np.einsum_path(equation, *shapes, optimize=("greedy", 10**9))[0][1:]


def most_letters(equation: str, pairs: Sequence[Tuple[int, ...]]) -> int:
    """The depth of the deepest nest among those of the pairs."""
    return max(len(set(re.sub(r"[^a-z]", "", re.sub(r"\w+\(", "", line)))) for line in text_of(equation, pairs).split("\n")[1:-1])


def program(name: str, equation: str, golden: Dict[str, int], usual: Dict[str, int]) -> Program:
    """The program of an equation, with sizes by the letter."""
    equation = explicit(equation)
    out = equation.partition("->")[2]

    def upper(sizes):
        return {letter.upper(): size for letter, size in sizes.items()}

    return Program(name, text_of(equation), lambda *arrays: (np.einsum(equation, *arrays, optimize=True),),
                   upper(golden), (tuple(golden[letter] for letter in out),), upper(usual), equation=equation)


def letters_of(equation: str) -> List[str]:
    return sorted(set(equation) - set(",->"))


def small(equation: str) -> Dict[str, int]:
    """Sizes from 2 to 4, neighbours unequal."""
    return {letter: 2 + k % 3 for k, letter in enumerate(letters_of(equation))}


def equal(equation: str, work: float) -> Dict[str, int]:
    """Equal sizes, at most 256, for which the equation written as one nest has at most `work` products."""
    letters = letters_of(equation)
    return {letter: max(2, min(256, int(work ** (1 / len(letters))))) for letter in letters}


def tccg_sizes(equation: str, largest: float) -> Dict[str, int]:
    """TCCG's rule: equal indices, those along memory multiples of 24 and others of 4, the largest tensor of about `largest` elements."""
    tensors = equation.replace("->", ",").split(",")
    even = largest ** (1 / max(map(len, tensors)))
    along = {tensor[-1] for tensor in tensors}
    return {letter: 24 * math.ceil(even / 24) if letter in along else max(4, 4 * round(even / 4)) for letter in letters_of(equation)}


def tccg(largest: float = 2.0**18) -> List[Program]:
    """TCCG's contractions; `largest` elements of the largest tensor stand for the suite's 200 MiB."""
    programs = []
    for name in TCCG:
        out, left, right = (tensor[::-1] for tensor in name.split("-"))
        equation = f"{left},{right}->{out}"
        programs.append(program(name, equation, small(equation), tccg_sizes(equation, largest)))
    return programs


def opt_einsum(work: float = 2e7) -> List[Program]:
    """The expressions of opt_einsum's tests, each as one statement, with at most `work` products where they are timed."""
    return [program(equation, equation, small(equation), equal(equation, work)) for equation in OPT_EINSUM]


def opt_einsum_by_pairs(work: float = 2e7) -> List[Program]:
    """Those of three tensors and more, two tensors at a time, with at most `work` products a statement."""
    programs = []
    for equation in (explicit(equation) for equation in OPT_EINSUM if equation.count(",") >= 2):
        pairs = order_of_pairs(equation, equal(equation, work))
        size = max(2, min(256, int(work ** (1 / most_letters(equation, pairs)))))
        one = program(equation, equation, small(equation), dict.fromkeys(letters_of(equation), size))
        programs.append(dataclasses.replace(one, text=text_of(equation, pairs)))
    return programs
