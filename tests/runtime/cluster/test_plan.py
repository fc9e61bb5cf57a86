"""The plan of a cluster: everything follows from the seed, and it can always be run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from beforehand import protocols
from beforehand.errors import BeforehandError
from beforehand.runtime.cluster.plan import ClusterPlan, WorkerJob
from beforehand.runtime.cluster.traffic import TrafficSource, payload_of


def test_the_same_seed_gives_the_same_plan() -> None:
    """Another seed gives other victims and other draws."""
    plans = [ClusterPlan(nodes=9, kill=3, seed=seed) for seed in (1, 1, 2)]
    jobs = [[plan.job(name, None, "t", "r") for name in plan.names] for plan in plans]
    assert jobs[0] == jobs[1] != jobs[2]
    assert plans[0].victims == plans[1].victims != plans[2].victims
    assert len({job.seed for job in jobs[0]}) == 9


def test_messages_are_shared_out() -> None:
    """Evenly; a restarted process sends what it had not sent when it was killed."""
    plan = ClusterPlan(nodes=3, messages=100, kill=1, restart=True)
    assert [plan.share(name) for name in plan.names] == [34, 33, 33]
    [victim] = plan.victims
    first, second = (plan.job(victim, None, "t", "r", life) for life in (1, 2))
    assert first.halfway + second.messages == first.messages
    assert (first.pause, second.halfway, second.pause) == (0, 0, 0)
    assert first.seed != second.seed
    survivor = plan.job(next(n for n in plan.names if n != victim), bytes(32), "t", "r")
    assert 0 < survivor.pause < survivor.messages and survivor.key == "00" * 32


def test_a_job_survives_json() -> None:
    """The worker reads the job that the parent has written."""
    job = ClusterPlan(protocol="prc", nodes=4).job("n2", None, "t", "r")
    read = WorkerJob(**json.loads(json.dumps(asdict(job))))
    assert read.name == "n2" and list(map(tuple, read.links or ())) == list(job.links or ())


@pytest.mark.parametrize("protocol", ["tree", "link-memory", "preventive", "prc"])
@pytest.mark.parametrize("nodes", [2, 12])
def test_overlays_hold_together(protocol: str, nodes: int) -> None:
    """Every core accepts its overlay, and the overlay is connected."""
    plan = ClusterPlan(nodes=nodes, protocol=protocol, seed=nodes)
    for name in plan.names:
        job = plan.job(name, None, "t", "r")
        protocols.create(protocol, name, processes=plan.names, tree=job.tree, links=job.links)
    pairs = [*(job.tree or {}).items(), *(job.links or ())]
    reached = {plan.names[0]}
    for _ in plan.names:
        reached |= {b for a, b in pairs if a in reached} | {a for a, b in pairs if b in reached}
    assert reached == set(plan.names)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"nodes": 1}, "nodes is 1; give a number from 2 to 64"),
        ({"nodes": 8, "messages": 7}, "messages is 7; give a number from 8"),
        ({"payload": -1}, "payload is -1"),
        ({"loss": 1.0}, "loss is 1.0; give a rate from 0 to less than 1"),
        ({"duplicate": 1.5}, "duplicate is 1.5; give a rate from 0 to 1"),
        ({"reorder": -0.1}, "reorder is -0.1"),
        ({"nodes": 3, "kill": 2}, "cannot kill 2 of 3 nodes: at least 2 must survive"),
        ({"kill": -1}, "cannot kill -1 of 8 nodes"),
        ({"restart": True}, "no process is killed, so none can be restarted"),
        ({"kill": 1, "restart": True, "protocol": "rst"}, "cannot come back"),
        ({"kill": 1, "protocol": "tree"}, "tree runs on an overlay, which falls apart"),
        ({"drop_after": 0.0}, "drop-after is 0.0; give seconds"),
        ({"protocol": "none"}, "there is no protocol 'none'"),
    ],
)
def test_plans_that_cannot_run_are_refused(wrong: dict[str, Any], problem: str) -> None:
    """Before anything is started, with an error."""
    with pytest.raises(BeforehandError) as raised:
        ClusterPlan(**wrong)
    assert problem in str(raised.value)


def test_traffic_is_of_every_kind_that_the_protocol_has() -> None:
    """Unicasts, multicasts, broadcasts; reactions go to a third process."""
    casts = ("unicast", "multicast", "broadcast")
    traffic = TrafficSource(7, casts)
    drawn = [traffic.receivers({"b", "c", "d"}) for _ in range(300)]
    assert {type(receivers) for receivers in drawn} == {str, tuple, type(None)}
    assert traffic.reacted == 0
    reacting = TrafficSource(7, ("unicast",))
    for _ in range(100):
        reacting.delivered("b")
    chosen = [reacting.receivers({"b", "c", "d"}) for _ in range(20)]
    assert set(chosen) == {"c", "d"} and reacting.reacted == 20
    assert TrafficSource(7, ("broadcast",)).receivers({"b"}) is None


def test_payloads_distinguish_messages() -> None:
    """Of any size, and different for every message if there is room for its name."""
    assert payload_of("n1", 12, 0) == b""
    assert payload_of("n1", 12, 10) == b"n1#12 n1#1"
    assert len({payload_of("n1", number, 32) for number in range(100)}) == 100
