"""A small OpenAI-compatible server on loopback that answers as it was told: for tests, and nothing else."""

from __future__ import annotations

import json
import socket
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One answer of the server.

    Attributes:
        chunks: raw pieces of the body, each sent by itself.
        cut: drop the connection after the chunks.
        hold: an event to wait for before the last chunk.
        begun: set once all but the last chunk are sent.
    """

    chunks: tuple[bytes, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    cut: bool = False
    hold: threading.Event | None = None
    begun: threading.Event | None = None


def event(value: Any) -> bytes:
    """A value as one server-sent event."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def delta(_finish: str | None = None, **fields: Any) -> bytes:
    """One chunk with a delta."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": _finish}]})


DONE = b"data: [DONE]\n\n"


def says(text: str, *, prompt_tokens: int = 7, piece: int = 4) -> Scene:
    """An answer in pieces, with usage, as most endpoints stream it."""
    pieces = [delta(content=text[i : i + piece]) for i in range(0, len(text), piece)]
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(text.split()), "total_tokens": 0}
    return Scene(chunks=(*pieces, delta("stop"), event({"choices": [], "usage": usage}), DONE))


def calls(name: str, /, **arguments: Any) -> Scene:
    """An answer that calls a tool, its arguments in fragments."""
    text = json.dumps(arguments, ensure_ascii=False)
    half = len(text) // 2
    first = {"index": 0, "id": "call_a", "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": part}} for part in (text[:half], text[half:])]
    return Scene(chunks=(*(delta(tool_calls=[part]) for part in (first, *rest)), delta("tool_calls"), DONE))


def refuses(status: int, message: str, **headers: str) -> Scene:
    """An error."""
    body = json.dumps({"error": {"message": message}}).encode()
    return Scene(status=status, chunks=(body,), headers={"Content-Type": "application/json", **headers})


class Endpoint:
    """The server's state: what it will answer, and what it was asked."""

    def __init__(self) -> None:
        self.scenes: list[Scene] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.otherwise: Scene | Callable[[dict[str, Any]], Scene] = says("ok")
        self.url = ""
        self._lock = threading.Lock()

    def will(self, *scenes: Scene) -> None:
        """Answer with these, in order; then with `otherwise`."""
        self.scenes.extend(scenes)

    def next(self, asked: dict[str, Any], headers: dict[str, str]) -> Scene:
        with self._lock:
            self.asked.append(asked)
            self.headers.append(headers)
            if self.scenes:
                return self.scenes.pop(0)
            return self.otherwise(asked) if callable(self.otherwise) else self.otherwise


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        scene = self.endpoint.next(json.loads(body), dict(self.headers.items()))
        self.send_response(scene.status)
        for name, value in scene.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self._send(scene)
        except OSError:  # the client went away, as some tests want it to
            self.close_connection = True

    def _send(self, scene: Scene) -> None:
        *most, last = scene.chunks or (b"",)
        for chunk in most:
            self._chunk(chunk)
        if scene.begun is not None:
            scene.begun.set()
        if scene.hold is not None:
            scene.hold.wait(30)
        self._chunk(last)
        if scene.cut:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Quiet."""


class _Server(ThreadingHTTPServer):
    """A server whose clients may be killed."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about; it must not be printed into another test's output."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Run the server for a block."""
    endpoint = Endpoint()
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = _Server(("127.0.0.1", 0), handler)
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
