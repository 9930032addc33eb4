"""Bodies are limited by what they say and by what they are."""

import asyncio

import pytest

from evenhand.app.security.limits import OTHER_BYTES, UPLOAD_BYTES, body_limit, limit_body
from evenhand.errors import LimitExceededError


def scope(path="/x", method="POST", length=None):
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return {"type": "http", "method": method, "path": path, "headers": headers}


@pytest.mark.parametrize(
    ("path", "method", "limit"),
    [
        ("/studies/0123456789abcdef/data", "POST", UPLOAD_BYTES),
        ("/studies/0123456789abcdef/data", "GET", OTHER_BYTES),
        ("/studies/0123456789abcdef/schema", "POST", OTHER_BYTES),
        ("/studies/0123456789ABCDEF/data", "POST", OTHER_BYTES),
        ("/studies/x/data", "POST", OTHER_BYTES),
        ("/studies/0123456789abcdef/data\n", "POST", OTHER_BYTES),
        ("/x/studies/0123456789abcdef/data", "POST", OTHER_BYTES),
    ],
)
def test_only_an_upload_may_be_large(path, method, limit):
    assert body_limit(scope(path, method)) == limit


@pytest.mark.parametrize("length", [OTHER_BYTES + 1, 10**30, "-1", "x", "1e3", "", "²"])
def test_a_length_that_is_too_large_or_no_number_is_refused_at_once(length):
    with pytest.raises(LimitExceededError, match="at most 1 MB"):
        limit_body(scope(length=length), None)


def read_all(sizes):
    messages = iter([{"type": "http.request", "body": b"x" * size, "more_body": True} for size in sizes])

    async def receive():
        return next(messages)

    async def read():
        limited = limit_body(scope(length=0), receive)
        return [len((await limited())["body"]) for _ in sizes]

    return asyncio.run(read())


def test_what_is_read_counts_and_not_what_was_said():
    assert read_all([OTHER_BYTES // 2] * 2) == [OTHER_BYTES // 2] * 2
    with pytest.raises(LimitExceededError):
        read_all([OTHER_BYTES, 1])
