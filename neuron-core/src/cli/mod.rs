//! What every tool shares on the command line: flags, exit codes, error text, colour.
