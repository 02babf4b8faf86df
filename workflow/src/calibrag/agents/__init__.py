"""Agents as pure state machines: they decide, and never touch a model, an index or a clock.

An agent is a generator. It yields *effects* (``protocol.Effect``), which ``execution`` performs, many
questions at a time, and is sent back what they returned; its return value is the trace.
"""
