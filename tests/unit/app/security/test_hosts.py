"""Hosts and pages: what is ours, letter by letter."""

import pytest

from evenhand.app.security.hosts import LocalHosts, header_values


def scope(kind="http", method="GET", **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "method": method, "headers": pairs}


@pytest.mark.parametrize("host", ["127.0.0.1:8421", "localhost:8421", "[::1]:8421"])
def test_three_names_are_ours(host):
    assert LocalHosts(8421).has(host)


def test_a_name_without_the_port_is_ours_only_on_the_port_of_the_web():
    """Browsers leave port 80 out."""
    assert LocalHosts(80).has("127.0.0.1")
    assert not LocalHosts(8421).has("127.0.0.1")


def test_a_request_without_a_host_is_not_ours():
    assert not LocalHosts(8421).is_host_ours(scope())


def test_every_value_of_a_header_is_found_whatever_its_letters():
    headers = [(b"Host", b"a"), (b"x", b"y"), (b"hOST", b"b")]

    assert header_values({"headers": headers}, "host") == ["a", "b"]


OWN = {"host": "localhost:8421", "origin": "http://localhost:8421"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_our_page_may_write(method):
    """Old browsers send no Sec-Fetch-Site, and some requests have no Origin; one of the two must speak."""
    hosts = LocalHosts(8421)

    assert hosts.is_page_ours(scope(method=method, **OWN))
    assert hosts.is_page_ours(scope(method=method, **OWN, sec_fetch_site="same-origin"))
    assert hosts.is_page_ours(scope(method=method, host=OWN["host"], sec_fetch_site="same-origin"))
    assert not hosts.is_page_ours(scope(method=method, host=OWN["host"]))


def test_a_person_may_follow_a_link_to_the_page_and_nothing_may_embed_it():
    hosts = LocalHosts(8421)
    there = {"host": OWN["host"], "sec_fetch_site": "cross-site"}

    assert hosts.is_page_ours(scope(**there, sec_fetch_mode="navigate", sec_fetch_dest="document"))
    assert not hosts.is_page_ours(scope(**there, sec_fetch_mode="navigate", sec_fetch_dest="iframe"))
    assert not hosts.is_page_ours(scope(**there, sec_fetch_mode="no-cors", sec_fetch_dest="image"))
    assert not hosts.is_page_ours(scope(**there))
    assert hosts.is_page_ours(scope(host=OWN["host"], sec_fetch_site="none"))


def test_a_websocket_must_say_where_it_comes_from():
    hosts = LocalHosts(8421)

    assert hosts.is_page_ours(scope("websocket", **OWN))
    assert not hosts.is_page_ours(scope("websocket", host=OWN["host"], sec_fetch_site="same-origin"))
