"""The token works once, and a cookie is ours only with our seal."""

from evenhand.app.security.token import SessionCookie, StartToken


def with_cookie(text):
    return {"headers": [(b"cookie", text.encode())]}


def test_tokens_are_long_and_never_the_same():
    tokens = {StartToken().value for _ in range(50)}

    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {64}  # 256 bits


def test_a_wrong_guess_uses_nothing_up():
    token = StartToken("right")

    assert [token.exchange(guess) for guess in ("", "wrong", "righ", "right", "right")] == [
        False, False, False, True, False,
    ]  # fmt: skip


def test_each_browser_has_a_cookie_of_its_own():
    cookie = SessionCookie("secret", 8421)
    values = {cookie.issue() for _ in range(20)}

    assert len(values) == 20
    assert all(cookie.is_in(with_cookie(f"{cookie.name}={value}")) for value in values)


def test_a_cookie_of_another_secret_or_port_is_not_ours():
    cookie = SessionCookie("secret", 8421)
    others = [SessionCookie("other", 8421), SessionCookie("secret", 8422)]

    assert not any(cookie.is_in(with_cookie(f"{cookie.name}={each.issue()}")) for each in others)


def test_the_secret_is_not_in_the_cookie():
    assert "secret" not in SessionCookie("secret", 8421).header()


def test_no_script_reads_the_cookie_and_no_other_site_has_it_sent():
    attributes = SessionCookie("secret", 8421).header().split("; ")[1:]

    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]
