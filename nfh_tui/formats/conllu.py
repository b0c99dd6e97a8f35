"""`conllu`: CoNLL-U, the form of Universal Dependencies, read by the conllu package.

    # newdoc id = 0000001
    # nfh_passage = {"format":"nfh-conllu/1","turns":[[0,"Ann",0,3],[1,"Ben",3,7]],"named":true}
    # sent_id = 0000001-1
    # speaker = Ann
    # text = Two tickets?
    1<TAB>Two<TAB>two<TAB>_ …

A document is a passage and a sentence is a turn. What counts of a number stands in MISC on
its first token (see `conllu_marks`), everything else in a comment.
"""

import re

from nfh_db.formats.format import First, Format, How, holds
from nfh_tui.formats.conllu_lines import PASSAGE
from nfh_tui.formats.conllu_rows import read
from nfh_tui.formats.conllu_write import ConlluWriter

TOKEN = re.compile(r"(?:1|1-\d+|0\.1)\t[^\t]+(?:\t[^\t]+){8}")


def sniff(first: First) -> str | None:
    """Why a text is CoNLL-U."""
    for line in first.start.split("\n"):
        if line.startswith(f"# {PASSAGE} = "):
            return f"it begins with a comment {PASSAGE}"
        if line.strip() and not line.startswith("#"):
            if TOKEN.fullmatch(line.removesuffix("\r")):
                return "its first line that is no comment has the ten columns of CoNLL-U"
            break
    return "its name ends in .conllu" if first.suffix == ".conllu" else None


CONLLU = Format(
    name="conllu",
    extensions=(".conllu",),
    description=(
        "CoNLL-U: a document for each passage, a sentence for each turn; the gold answer in "
        "MISC on the number's first token, the rest in comments"
    ),
    example="3\tthree\tthree\t_\t_\t_\t_\t_\t_\tNFH=REFERENCE|NFHHead=1:2|SpaceAfter=No",
    read=read,
    sniff=sniff,
    chunks=ConlluWriter,
    carries_split=True,
    holds=holds(
        How.BESIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        NOUN=How.OWN,
        COMMENT=How.OWN,
        GOLD=How.OWN,
        SPEAKERS=How.OWN,
        TOKENS=How.OWN,
    ),
    extra="conllu",
)
