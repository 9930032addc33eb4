"""A browser for every process of tests, a workbench for each, and a visit that fails on any fault."""

import pytest

from browser._harness import ARGUMENTS, ONE_CORE, Serving, Visit, cookies_of, find_browser

FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    """Mark what stands in this folder."""
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Remember that a test failed, so that what the browser showed can be kept."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def browser():
    """Return a browser, or skip with the reason."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra 'browser' is not installed")
    program = find_browser()
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def serving(browser, tmp_path_factory):
    """Return the workbench that the tests of a process share; each test has studies of its own."""
    process = Serving(tmp_path_factory.mktemp("workbench"), environment=ONE_CORE).start()
    yield process
    process.stop()
    assert "Traceback" not in "".join(process.lines)


@pytest.fixture(scope="session")
def cookies(browser, serving):
    return cookies_of(browser, serving)


@pytest.fixture
def visit_with(browser, request, tmp_path):
    """Return a function that opens a browser window; what goes wrong in it fails the test."""
    visits = []

    def open_visit(cookies, home, **options):
        visits.append(Visit(browser, cookies, home, **options))
        return visits[-1]

    yield open_visit
    faults = [fault for visit in visits for fault in visit.unexpected()]
    for number, visit in enumerate(visits):
        if request.node.stash.get(FAILED, False):
            visit.page.screenshot(path=tmp_path / f"failed-{number}.png", full_page=True)
        visit.close()
    assert faults == []


@pytest.fixture
def visit(visit_with, cookies, serving):
    """Return a browser window of usual width, at the shared workbench."""
    return visit_with(cookies, serving.home)


@pytest.fixture
def page(visit):
    """Return its first tab, on the first page."""
    return visit.open()


@pytest.fixture
def own_serving(tmp_path):
    """Return a function that starts a workbench that a test has to itself."""
    started = []

    def start(*options, folder=tmp_path / "own"):
        started.append(Serving(folder, *options).start())
        return started[-1]

    yield start
    for process in started:
        process.stop()
