"""The plug-in: a tab, and the routes below it."""

import os
import urllib.parse

from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from tensorboard_plugin_neuronx import activity, proxy, server

# The vendor's plug-in is called neuron; two of one name stop TensorBoard.
NAME = "neuronx"
TAB = "Neuron"
APP = "/app/"

# TensorBoard imports this into a page of its own and calls render(). The page of
# the child takes its place, with a policy that is tighter than TensorBoard's.
ENTRY = b'export function render() {\n  window.location.replace("app/tensorboard.html");\n}\n'


class NeuronPlugin(base_plugin.TBPlugin):
    """Serves what neuron-profile answers."""

    plugin_name = NAME

    def __init__(self, context):
        logdir = os.path.expanduser(context.logdir or "")
        self._remote = "://" in logdir
        self._logdir = "" if self._remote else logdir
        self._activity = activity.Activity(self._logdir)
        self._server = server.Server(self._logdir)

    def get_plugin_apps(self):
        """The entry, and everything of the child."""
        return {"/index.js": self._entry, APP + "*": self._app}

    def is_active(self):
        """Whether there is something to show."""
        return bool(self._logdir) and self._activity.is_active()

    def frontend_metadata(self):
        """How the tab is shown."""
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js", tab_name=TAB, disable_reload=True
        )

    @wrappers.Request.application
    def _entry(self, _request):
        response = wrappers.Response(ENTRY, content_type="text/javascript; charset=utf-8")
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-cache"
        return response

    @wrappers.Request.application
    def _app(self, request):
        if not self._logdir:
            text = "the log directory is remote, which is not supported: copy it here"
            if not self._remote:
                text = "TensorBoard was started without --logdir, which the Neuron tab needs"
            return proxy.problem(request, 503, text)
        mark = "/{}{}".format(NAME, APP)
        _, _, rest = request.path.partition(mark)
        # Decoded by the server above; encoded again as one segment after the other.
        path = "/" + urllib.parse.quote(rest, safe="/:@!$&'()*+,;=~")
        raw = request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI") or ""
        if mark in raw:
            # As the browser wrote it: a name with an encoded slash stays one segment.
            path = "/" + raw.partition(mark)[2].partition("?")[0]
        return proxy.forward(self._server, request, path)
