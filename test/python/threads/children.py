"""Children that tests fork."""

import os
import signal
import time


def wait_for(child, seconds=60):
    """The exit status of `child`; it is killed, and the answer None, where it does not end in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
