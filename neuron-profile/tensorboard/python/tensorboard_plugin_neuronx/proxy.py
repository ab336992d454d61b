"""Hands requests to the child and its answers back, piece by piece."""

import html
import http.client
import json

from werkzeug import wrappers

from tensorboard_plugin_neuronx.server import Missing

# What the child needs to know of a request, and the browser of an answer. Not tags:
# TensorBoard logs a warning for every 304, since Werkzeug leaves out its type.
REQUEST = (
    "Accept",
    "Accept-Encoding",
    "Content-Type",
    "Host",
    "Origin",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Site",
)
RESPONSE = (
    "Cache-Control",
    "Content-Encoding",
    "Content-Length",
    "Content-Security-Policy",
    "Content-Type",
    "Referrer-Policy",
    "Vary",
    "X-Content-Type-Options",
)
METHODS = ("GET", "HEAD", "PUT", "DELETE")
BODY = 8 << 20
PIECE = 1 << 16
NOTHING = "default-src 'none'; frame-ancestors 'self'"


def forward(server, request, path):
    """The child's answer to a request for ``path``."""
    if request.method not in METHODS:
        return problem(request, 405, "that cannot be done here")
    length = request.content_length or 0
    if length > BODY:
        return problem(request, 413, "a document has 8 MiB at most")
    body = request.get_data() if length else None
    query = request.query_string.decode("latin-1")
    target = path + ("?" + query if query else "")
    headers = {name: request.headers[name] for name in REQUEST if name in request.headers}
    for last in (False, True):
        try:
            connection = server.connection()
        except Missing as error:
            return problem(request, 503, str(error))
        try:
            connection.request(request.method, target, body=body, headers=headers)
            return _answer(connection, connection.getresponse())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            # One that has ended is started once more; others were only slow.
            if last or not server.ended():
                text = "neuron-profile did not answer: {} {}".format(error, server.reason())
                return problem(request, 502, text.strip())
    return problem(request, 502, "neuron-profile ends again and again")


def _answer(connection, answer):
    headers = [(name, answer.headers[name]) for name in RESPONSE if name in answer.headers]

    def pieces():
        try:
            while True:
                piece = answer.read(PIECE)
                if not piece:
                    return
                yield piece
        finally:
            connection.close()

    response = wrappers.Response(pieces(), status=answer.status, direct_passthrough=True)
    del response.headers["Content-Type"]
    for name, value in headers:
        response.headers[name] = value
    if "Content-Type" not in response.headers:
        # TensorBoard wants one even of an answer without a body.
        response.headers["Content-Type"] = "text/plain"
    response.call_on_close(connection.close)
    return response


def problem(request, status, text):
    """An answer that says what is wrong: a page for people, JSON for scripts."""
    wants_page = "text/html" in request.headers.get("Accept", "")
    if wants_page:
        body = "<!doctype html><meta charset=utf-8><title>Neuron</title><h1>Neuron</h1><p>{}</p>"
        body, kind = body.format(html.escape(text)), "text/html; charset=utf-8"
    else:
        body, kind = json.dumps({"error": text}), "application/json"
    response = wrappers.Response(body, status=status, content_type=kind)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = NOTHING
    response.headers["Cache-Control"] = "no-store"
    return response
