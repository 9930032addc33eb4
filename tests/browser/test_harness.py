"""The other tests of this folder rest on a visit that sees what goes wrong: these are its twins."""

import pytest

from browser._harness import Visit, wait_until


@pytest.fixture
def watched(browser, cookies, serving):
    """Return a visit whose faults do not fail the test."""
    visit = Visit(browser, cookies, serving.home)
    visit.open()
    yield visit
    visit.close()


def test_a_page_without_faults_has_none(watched):
    assert watched.unexpected() == []


def test_a_script_inside_the_page_is_seen(watched):
    """The policy of the page must stop it, and the visit must say so."""
    watched.page.evaluate(
        "() => { const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
        " document.body.append(script); }"
    )

    wait_until(lambda: any("script-src" in fault for fault in watched.unexpected()), watched.page)
    assert watched.page.evaluate("() => window.ran") is None


def test_a_request_to_another_host_is_seen(watched):
    watched.page.evaluate("() => { new Image().src = 'http://127.0.0.1:9/picture.png'; }")

    wait_until(lambda: any("127.0.0.1:9" in fault for fault in watched.unexpected()), watched.page)


def test_an_error_of_a_script_is_seen(watched):
    watched.page.evaluate("() => { setTimeout(() => { throw new Error('planted'); }, 0); }")

    wait_until(lambda: any("planted" in fault for fault in watched.unexpected()), watched.page)
