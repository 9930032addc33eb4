"""G4, as far as HTTP goes: text stays text, and every answer says what a browser may do with it."""

import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from attacks._report_payloads import PAYLOADS
from attacks.app._gate import HANDSHAKE, open_gate
from unit.report._parsing import Parsed

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Written out here once more: who loosens it has to say so twice, and in docs/how-to/use-the-workbench.md."""

ALWAYS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
TABLE = b"age,sex\n1,a\n2,b\n"


@pytest.fixture(scope="module", name="gate")
def _gate(tmp_path_factory):
    with open_gate(tmp_path_factory.mktemp("answers") / "workbench") as gate:
        yield gate


@pytest.fixture(scope="module", name="study")
def _study(gate):
    return gate.workbench.workspace.create("Answers").id


def encode(text):
    return quote(text, safe="", errors="surrogatepass")


def every_answer(gate, study):
    """Return an answer of every kind: pages, files, refusals and errors."""
    page = gate.get("/")
    library = next(attributes["src"] for attributes in Parsed(page.text).all("script") if "src" in attributes)
    own = gate.own_headers()
    return {
        "page": page,
        "script": gate.get(f"/{library.lstrip('/')}"),
        "style": gate.get("/static/app.css"),
        "alive": gate.get("/alive"),
        "upload": gate.upload(study, "a.csv", TABLE),
        "refused upload": gate.upload(study, "a.exe", TABLE),
        "missing": gate.get("/nothing", Accept="text/html"),
        "wrong method": gate.post("/alive"),
        "other host": gate.get("/", Host="example.org"),
        "no cookie": gate.get("/", Cookie="", Accept="text/html"),
        "used token": gate.ask("GET", "/start?token=x", {"Host": gate.host, "Accept": "text/html"}),
        "too large": gate.ask("POST", "/x", {**own, "Content-Length": "9999999"}, length=False),
        "websocket": gate.ask("GET", "/websocket/", {**own, **HANDSHAKE}),
    }


def test_every_answer_has_the_strict_headers(gate, study):
    for name, answer in every_answer(gate, study).items():
        missing = {key: value for key, value in ALWAYS.items() if answer.headers.get(key) != value}
        assert missing == {}, name
        assert "server" not in answer.headers, name
        assert "access-control-allow-origin" not in answer.headers, name


def test_no_page_may_run_an_inline_script_or_eval(gate, study):
    """Then text that got into a page in spite of all escaping still could not act."""
    for name, answer in every_answer(gate, study).items():
        policy = answer.headers["content-security-policy"]
        is_bare = "style-src 'sha256-" in policy  # a refusal: one style sheet, no script at all
        assert policy == POLICY or (is_bare and "script-src" not in policy), name
        assert "unsafe" not in policy, name


def test_the_page_itself_keeps_the_policy(gate):
    """No element of it needs what the policy forbids."""
    page = Parsed(gate.get("/").text)
    inline = [
        each for each in page.all("script") if "src" not in each and "html-dependencies" not in str(each)
    ]
    hosts = [url for _, attributes in page.elements for key, url in attributes.items()
             if key in {"src", "href"} and (url or "").startswith(("http:", "https:", "//"))]  # fmt: skip

    assert inline == []
    assert hosts == []
    assert page.all("style") == []
    assert [name for _, attributes in page.elements for name in attributes if name.startswith("on")] == []
    assert [name for _, attributes in page.elements for name in attributes if name == "style"] == []


def test_file_names_full_of_markup_come_back_as_json(gate, study):
    for payload in PAYLOADS:
        answer = gate.upload(study, encode(f"{payload}.csv"), TABLE)
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        assert isinstance(json.loads(answer.body)["label"], str)


def test_names_full_of_markup_stay_text_on_a_refusal(gate, study):
    """A page that says that something does not exist says what, and whoever sent the link chose that."""
    plain = Parsed(gate.get("/studies/x/files/y", Accept="text/html").text)
    for payload in PAYLOADS:
        for place in (f"/studies/{study}/files/{encode(payload)}", f"/studies/{encode(payload)}/files/x"):
            page = Parsed(gate.get(place, Accept="text/html").text)
            assert page.elements == plain.elements
            assert page.faults == plain.faults


def test_no_header_can_be_smuggled_in_by_a_name(gate, study):
    answer = gate.upload(study, "a%0d%0aSet-Cookie%3A%20a=b.csv", TABLE)

    assert "set-cookie" not in answer.headers
    assert gate.get(f"/studies/{study}/files/%0d%0aSet-Cookie:a=b").headers.get("set-cookie") is None


@pytest.mark.figures
def test_fifty_requests_at_once_are_all_answered(gate, study):
    """G10: a page that asks for much at once must not lock itself out."""
    with ThreadPoolExecutor(50) as threads:
        pages = [threads.submit(gate.get, "/") for _ in range(25)]
        uploads = [threads.submit(gate.upload, study, "a.csv", TABLE) for _ in range(25)]

    assert {page.result().status for page in pages} == {200}
    assert {upload.result().status for upload in uploads} == {200}
    assert len(list((gate.workbench.workspace.folder(study) / "data").iterdir())) == 1
