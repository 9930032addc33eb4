import pytest

from evenhand.app.state.jobs import Jobs
from evenhand.app.state.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "workbench") as opened:
        yield opened


@pytest.fixture
def jobs(workspace, monkeypatch):
    """A queue whose workers compute cells in their own process: the fewest processes for a small study."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    queue = Jobs(workspace)
    yield queue
    queue.close()
