"""What the processes of a cluster may be: besides random traffic, a group chat or a shop.

`script.py` is who sends what, and because of what; `chat.py` and `shop.py` write such scripts.
`actor.py` performs the part of one process on a node and logs what its user saw; `incident.py` searches
these logs for what made no sense to a user, and shows the same messages in another run.
"""

from typing import Final

from beforehand.runtime.cluster.programs.chat import CHAT
from beforehand.runtime.cluster.programs.script import ScriptedProgram
from beforehand.runtime.cluster.programs.shop import SHOP

PROGRAMS: Final[dict[str, ScriptedProgram]] = {program.name: program for program in (CHAT, SHOP)}
