"""Neuron profiles in TensorBoard.

This package only registers a tab and hands its requests to ``neuron-profile
tensorboard``, which reads the log directory and answers them. Nothing here looks
into a profile.
"""
