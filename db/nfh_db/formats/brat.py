"""`brat`: a project of brat, https://brat.nlplab.org, as a folder or a zip of it.

gold/0000001.txt        Ann: Two tickets?
                        Ben: No, three.
gold/0000001.ann        T1<TAB>REFERENCE 27 32<TAB>three
                        T2<TAB>HEAD 9 16<TAB>tickets
                        R1<TAB>HEAD Arg1:T1 Arg2:T2
gold/0000001.nfh.json   tokens, times, and what else brat has no terms for
eva/…                   the same documents with Eva's answers
"""

from nfh_db.formats.brat_names import ANN, TEXT
from nfh_db.formats.brat_read import read
from nfh_db.formats.brat_write import BratWriter
from nfh_db.formats.format import First, Format, How, Takes, holds


def sniff(first: First) -> str | None:
    """Why a folder is a brat project."""
    names = set(first.names)
    pair = next(
        (n for n in first.names if n.endswith(ANN) and n.removesuffix(ANN) + TEXT in names),
        None,
    )
    return None if pair is None else "it holds texts with the .ann files of brat beside them"


BRAT = Format(
    name="brat",
    extensions=(".zip",),
    description=(
        "a brat project, a folder or zip: texts with .ann files beside them, a folder for gold "
        "and one for each who answered"
    ),
    example="",
    read=read,
    sniff=sniff,
    members=BratWriter,
    takes=(Takes.FOLDER,),
    carries_split=True,
    holds=holds(
        How.SIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        NOUN=How.OWN,
        COMMENT=How.OWN,
        VOTES=How.OWN,
        FLAGS=How.OWN,
        GOLD=How.OWN,
    ),
    settings=frozenset({"map", "offsets"}),
)
