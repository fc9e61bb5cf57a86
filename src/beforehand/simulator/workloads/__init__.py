"""Workloads: who causal-sends what to whom, and when.

    workload.py        the interface, and workloads in which processes act at intervals
    patterns.py        synthetic traffic: uniform, peers, hot spots, groups, broadcasts
    services.py        services that call each other: pipelines, fan-out, request-reply, the shop
    replay.py          a recorded or written program
    registry.py        all of them by name, with their parameters
    message_sizes.py   payload sizes, and the jobs that deliveries start

A workload schedules its first steps in `start`, sends through the `Application` of the run, and reacts
to deliveries.
"""
