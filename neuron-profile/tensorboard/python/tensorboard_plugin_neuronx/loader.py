"""What TensorBoard imports at its start.

An exception here would stop TensorBoard, so nothing is imported that may fail,
and trouble means no tab.
"""

import logging

from tensorboard.plugins import base_plugin

logger = logging.getLogger(__name__)


class NeuronLoader(base_plugin.TBLoader):
    """Makes the plug-in."""

    def load(self, context):
        """The plug-in, or None where it cannot be made."""
        try:
            from tensorboard_plugin_neuronx import plugin

            return plugin.NeuronPlugin(context)
        except Exception as error:  # the other tabs must go on
            logger.warning("The Neuron tab is not there: %s", error)
            return None
