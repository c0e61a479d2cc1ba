"""Irregular English forms: a question asks where somebody *went* or did *go*, and the answer says the other.

Regular forms share a stem already. These do not, so a query for one asks for the others as well. Words that say nothing
anyhow (be, have, do) are left out.
"""

from __future__ import annotations

from functools import cache

from hermes_state.text.stem import stem

_FORMS = """
become became; begin began begun; bite bit bitten; blow blew blown; break broke broken; bring brought; build built;
burn burnt; buy bought; catch caught; child children; choose chose chosen; come came; deal dealt; draw drew drawn;
dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight
fought; find found; fly flew flown; foot feet; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know
knew known; lead led; learn learnt; leave left; lend lent; lose lost; make made; man men; mean meant; meet met; mouse
mice; pay paid; person people; ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen;
seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; show shown; sing sang sung; sink sank
sunk; sit sat; sleep slept; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen; stick stuck;
strike struck; swear swore sworn; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell
told; think thought; throw threw thrown; tooth teeth; understand understood; wake woke woken; wear wore worn; wife
wives; win won; wind wound; woman women; write wrote written
"""


def other_forms(token: str) -> tuple[str, ...]:
    """The index tokens of the other forms of the word that has this one; none for a regular word."""
    return _table().get(token, ())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for group in _FORMS.split(";"):
        tokens = tuple(dict.fromkeys(stem(word) for word in group.split()))
        table.update({token: tuple(other for other in tokens if other != token) for token in tokens})
    return table
