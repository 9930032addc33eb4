"""The addresses of the workbench: the start, the page and its files, uploads, downloads, and Shiny's own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htmltools import HTMLDocument
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from evenhand.app.flow.files import ALL, DOWNLOADS, find_applied, find_downloads, pack_downloads
from evenhand.app.security.answers import answer_refusal
from evenhand.app.security.limits import UPLOAD_BYTES
from evenhand.app.security.middleware import START
from evenhand.app.state.far import FarFunction
from evenhand.app.state.record import DataChoice
from evenhand.app.state.uploads import read_label, receive_upload, remove_upload
from evenhand.app.state.workspace import DATA
from evenhand.errors import UnknownNameError, WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from evenhand.app.security.token import SessionCookie, StartToken
    from evenhand.app.state.workbench import Workbench
    from evenhand.app.state.workspace import Workspace

STATIC = Path(__file__).with_name("static")
LABEL_HEADER = "x-file-name"
"""The header of an upload that holds the name of the file, percent-encoded."""

_CHECK_UPLOAD = FarFunction("evenhand.app.flow.data", "check_upload")
_LOAD_SCHEMA = FarFunction("evenhand.app.flow.describe", "load_schema_file")
_REPORT_STYLE = FarFunction("evenhand.report.html", "style_sheet")
_LIBRARY = "lib"
_FORMAT = ("delimiter", "encoding", "decimal", "sheet")
_LONGEST_FORMAT = 120


class Page:
    """The one page, and the files of the libraries that it names.

    Parameters
    ----------
    build : callable
        Returns the document for a request.
    """

    def __init__(self, build: Callable[[Request], Any]) -> None:
        self._build = build
        self._files: dict[str, Path] = {}

    async def show(self, request: Request) -> Response:
        """Answer with the page."""
        rendered = HTMLDocument(self._build(request)).render(lib_prefix=_LIBRARY)
        for library in rendered["dependencies"]:
            place = library.source_path_map(lib_prefix=_LIBRARY)
            scripts = (file["src"] for file in library.script)
            names = [*scripts, *(file["href"] for file in library.stylesheet)]
            self._files |= {f"{place['href']}/{name}": Path(place["source"], name) for name in names}
        return HTMLResponse(rendered["html"])

    async def send_library(self, request: Request) -> Response:
        """Answer with a file that the page names; there is no other."""
        file = self._files.get(f"{_LIBRARY}/{request.path_params['name']}")
        if file is None:
            raise HTTPException(404)
        return FileResponse(file)


class Start:
    """The start address, where the token is exchanged for the cookie.

    Parameters
    ----------
    token : StartToken
    cookie : SessionCookie
    """

    def __init__(self, token: StartToken, cookie: SessionCookie) -> None:
        self._token = token
        self._cookie = cookie

    async def let_in(self, request: Request) -> Response:
        """Exchange the token, once; a browser that has the cookie already just goes on."""
        home = Response(status_code=303, headers={"location": "/"})
        if self._cookie.is_in(request.scope):
            return home
        is_ahead = request.method != "GET" or "sec-purpose" in request.headers  # nobody looks at it yet
        if is_ahead or not self._token.exchange(request.query_params.get("token", "")):
            sentence = (
                "This start address was used before, or is not whole. Hint: stop the workbench with Ctrl-C, "
                "start it again with `evenhand serve`, and open the address that it prints."
            )
            return answer_refusal(request.scope, 403, sentence)
        home.headers["set-cookie"] = self._cookie.header()
        return home


class Files:
    """What goes into the folders of studies and comes out of them.

    Parameters
    ----------
    workbench : Workbench
    """

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    async def take_data(self, request: Request) -> Response:
        """Receive a table; it takes the place of the study's data once it is whole and can be read."""
        workspace, study = self._idle(request)
        folder = workspace.folder(study)
        label = read_label(request.headers.get(LABEL_HEADER, ""))
        upload = await receive_upload(request.stream(), folder / DATA, label=label, limit=UPLOAD_BYTES)
        try:
            written = read_format(request.query_params)
            await self._workbench.desk.ask(
                _CHECK_UPLOAD, folder, upload.file, upload.label, file_format=written
            )
            self._idle(request)  # it may have been started, or deleted, meanwhile
            before = workspace.load(study)
            choice = DataChoice(source="upload", label=upload.label, file=upload.file, file_format=written)
            workspace.save(before.with_(data=choice, roles={}, columns={}, described=False))
        except BaseException:
            remove_upload(folder / DATA, upload.file)
            raise
        if before.data is not None and before.data.file:
            remove_upload(folder / DATA, before.data.file)
        return JSONResponse({"label": upload.label, "size": upload.size})

    async def take_schema(self, request: Request) -> Response:
        """Receive a schema file, which declares the columns of the study's data."""
        workspace, study = self._idle(request)
        text = (await request.body()).decode("utf-8-sig", errors="replace")
        changes = await self._workbench.desk.ask(
            _LOAD_SCHEMA, workspace.folder(study), workspace.load(study), text
        )
        self._idle(request)
        workspace.save(workspace.load(study).with_(**changes))
        return JSONResponse({"label": read_label(request.headers.get(LABEL_HEADER, ""))})

    async def send_file(self, request: Request) -> Response:
        """Answer with a file of a finished study, to be saved; its name is looked up in a fixed list."""
        folder, is_output = self._results(request)
        there, name = find_downloads(folder, is_output=is_output), request.path_params["name"]
        if name == ALL and there:
            packed = await asyncio.to_thread(pack_downloads, folder, is_output=is_output)
            attached = {"content-disposition": f'attachment; filename="{ALL}"'}
            return Response(packed, headers=attached, media_type=DOWNLOADS[ALL].media_type)
        if name not in there:
            raise UnknownNameError("File", name[:40], there, place="one that this study has")
        return FileResponse(there[name], filename=name, media_type=DOWNLOADS[name].media_type)

    async def send_applied(self, request: Request) -> Response:
        """Answer with a file that was written for real, by its name in the folder of those."""
        there, name = find_applied(self._results(request)[0]), request.path_params["name"]
        if name not in there:
            raise UnknownNameError("File", name[:40], there, place="one that was written")
        return FileResponse(there[name], filename=name, media_type="application/octet-stream")

    def _results(self, request: Request) -> tuple[Path, bool]:
        """Return the folder that a download is asked of, and whether it is one that is only shown."""
        study, shown = request.path_params.get("study"), self._workbench.read_only
        if study is None and shown is not None:
            return shown, True
        if study is None:
            raise HTTPException(404)
        return self._workbench.workspace.folder(study), False

    def _idle(self, request: Request) -> tuple[Workspace, str]:
        """Return the workspace and the id of a study that may be changed now."""
        workspace, study = self._workbench.workspace, request.path_params["study"]
        if self._workbench.read_only is not None:
            raise WorkbenchError("This study is only shown. Hint: start `evenhand serve` without --report.")
        workspace.load(study)
        if self._workbench.jobs.state(study).is_busy:
            raise WorkbenchError("This study is running or waiting to run. Hint: stop it first.")
        return workspace, study


def read_format(given: Mapping[str, str]) -> dict[str, str]:
    """Return what a person says of how a file is written; it is checked where the file is read.

    >>> read_format({"delimiter": "semicolon", "sheet": "", "other": "x"})
    {'delimiter': 'semicolon'}
    """
    return {name: given[name][:_LONGEST_FORMAT] for name in _FORMAT if given.get(name)}


def build_routes(page: Page, start: Start, files: Files, shiny: ASGIApp) -> list[BaseRoute]:
    """Return every address of the workbench."""
    return [
        Route(START, start.let_in, methods=["GET"]),
        Route("/alive", _answer_nothing, methods=["GET"]),
        Route("/favicon.ico", _answer_nothing, methods=["GET"]),  # the page names its icon itself
        Route("/", page.show, methods=["GET"]),
        Route(f"/{_LIBRARY}/{{name:path}}", page.send_library, methods=["GET"]),
        Route("/studies/{study}/data", files.take_data, methods=["POST"]),
        Route("/studies/{study}/schema", files.take_schema, methods=["POST"]),
        Route("/studies/{study}/files/{name}", files.send_file, methods=["GET"]),
        Route("/studies/{study}/applied/{name}", files.send_applied, methods=["GET"]),
        Route("/report/files/{name}", files.send_file, methods=["GET"]),
        Route("/static/report.css", _send_report_style, methods=["GET"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/", _Sessions(shiny)),
    ]


class _Sessions:
    """The part of Shiny that is used: its WebSocket, and what a session reads beside it."""

    def __init__(self, shiny: ASGIApp) -> None:
        self._shiny = shiny

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/session/"):
            raise HTTPException(404)
        if scope["type"] == "http" and scope["method"] == "POST":
            raise HTTPException(405)  # uploads go to the study that they belong to
        await self._shiny(scope, receive, send)


async def _send_report_style(_: Request) -> Response:
    return Response(await asyncio.to_thread(_REPORT_STYLE), media_type="text/css")


async def _answer_nothing(_: Request) -> Response:
    return Response(status_code=204)
