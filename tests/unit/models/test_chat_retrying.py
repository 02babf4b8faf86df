"""Waiting before another attempt."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.models.chat.retrying import Retrying, retry_after

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value, seconds",
    [
        ("17", 17),
        ("0.5", 0.5),
        ("-3", 0),
        (format_datetime(NOW + timedelta(seconds=90)), 90),
        (format_datetime(NOW - timedelta(seconds=90)), 0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after({"retry-after": value}, lambda: NOW) == seconds


def test_no_header_asks_for_nothing():
    assert retry_after({}) is None


@given(st.text())
def test_no_header_whatever_stops_the_caller(value):
    assert retry_after({"retry-after": value}) is None or retry_after({"retry-after": value}) >= 0


def test_a_wait_is_drawn_from_half_to_one_and_a_half_of_its_mean_and_never_exceeds_the_longest():
    waits = [Retrying(9, 5.0, jitter=lambda j=j: j).wait(number) for number in (1, 2, 3, 4) for j in (0.0, 0.5)]
    assert waits == [0.5, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 5.0]
