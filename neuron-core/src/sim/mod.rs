//! A simulated instance, shared by all processes that name it.
