"""A job killed by SIGKILL at ten random moments ends with the traces of an undisturbed one."""

import pytest
from killing import FILMS, IN_FLIGHT, killed_and_undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_ten_kills_lose_only_what_is_in_flight_and_change_no_trace(tmp_path, seed, capsys):
    outcome = killed_and_undisturbed(tmp_path, kills=10, seed=seed)
    print(f"seed {seed}: {outcome}")
    assert len(outcome.kills) == 10
    assert outcome.questions == len(FILMS) and outcome.same
    # made again are calls that were under way at a kill, and no others
    assert all(kill.lost <= IN_FLIGHT for kill in outcome.kills)
    assert any(kill.lost for kill in outcome.kills)
