import pytest

from unit.app.pages._tab import Tab


@pytest.fixture
def tab(tmp_path):
    """Return a tab at a workbench without studies."""
    opened = Tab(tmp_path / "workbench")
    yield opened
    opened.close()
