"""Waits for its module."""
