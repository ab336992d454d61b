//! A connection to a daemon, for neuron-cli.
