"""Headers are on every answer, once, and a stricter policy of an answer is kept."""

import asyncio
import base64
import hashlib

import pytest

from evenhand.app.security.headers import PAGE_POLICY, add_headers, style_policy


def sent(message):
    messages = []

    async def send(each):
        messages.append(each)

    asyncio.run(add_headers(send)(message))
    return messages[0]


@pytest.mark.parametrize("kind", ["http.response.start", "websocket.accept"])
def test_an_answer_has_the_policy_and_is_not_kept(kind):
    headers = dict(
        sent({"type": kind, "headers": [(b"Cache-Control", b"max-age=9"), (b"X", b"y")]})["headers"]
    )

    assert headers[b"content-security-policy"] == PAGE_POLICY.encode()
    assert headers[b"cache-control"] == b"no-store"
    assert headers[b"x"] == b"y"


def test_no_header_is_there_twice():
    names = [
        name
        for name, _ in sent({"type": "http.response.start", "headers": [(b"Referrer-Policy", b"x")]})[
            "headers"
        ]
    ]

    assert len(names) == len(set(names))


def test_an_answer_may_have_a_policy_of_its_own():
    given = [(b"content-security-policy", b"default-src 'none'")]
    headers = dict(sent({"type": "http.response.start", "headers": given})["headers"])

    assert headers[b"content-security-policy"] == b"default-src 'none'"


def test_the_body_is_passed_on_as_it_is():
    message = {"type": "http.response.body", "body": b"x"}

    assert sent(message) is message


def test_a_refusal_allows_its_one_style_and_no_script():
    digest = base64.b64encode(hashlib.sha256(b"body{}").digest()).decode()

    assert f"style-src 'sha256-{digest}'" in style_policy("body{}")
    assert "script" not in style_policy("body{}")
