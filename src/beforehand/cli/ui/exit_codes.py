"""The exit codes of all commands: one table, which docs/command-line.md repeats for users."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended; scripts rely on these."""

    FINE = 0  # done, and every promise was kept
    BROKEN = 1  # a promise was broken: a violation, a counterexample, an unsound study
    WRONG_INPUT = 2  # an option, a path or the contents of a file, for the user to correct
    MACHINE = 3  # a missing package, a full disk, a lost worker; or an error of ours
    INTERRUPTED = 130  # by SIGINT, which Ctrl-C sends
    NO_READER = 141  # nobody reads the output any more, as after `| head`
    TERMINATED = 143  # by SIGTERM
