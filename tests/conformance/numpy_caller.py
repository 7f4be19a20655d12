# SPDX-License-Identifier: Apache-2.0
"""Replaces the library with NumPy for cases in which the caller sets floating-point control words,
and for cases with failing loops."""

import abi
import caller
import failing_judge

FAULTS = {
    'control: the words of the caller reach the loop': 'control_leaks',
    'loops: the status of a loop that failed is lost': 'lost_failure',
    'loops: a loop that failed fails the next call': 'sticky_failure',
}


class CalledByProgram:
    def __init__(self, caller_path):
        self.caller = caller.Caller(caller_path) if caller_path else None
        self.control, self.failure, self.failed = None, None, False

    def failing_name(self, kind):
        return 'add'

    def choose_failure(self, fails):
        self.failure, self.failed = fails, False

    def end_failure(self):
        if not self.failed or self.fault != 'sticky_failure':
            self.failure = None
        return self.failed

    def fail_loop(self, size):
        """Raises the error of the failing loop if the result has more elements than the loop
        computes before it fails."""
        fails = self.failure
        if fails is None or size <= fails['after']:
            return
        self.failed = True
        if self.fault != 'lost_failure':
            text = failing_judge.expected_text(fails)
            raise abi.GufuncError(failing_judge.GUF_E_LOOP, text)

    def run(self, work, out):
        """Runs `work(out)`. With the fault control_leaks it runs under the caller's control
        words."""
        if self.fault != 'control_leaks' or self.control is None:
            return work(out)
        mxcsr, x87 = caller.CONTROLS[self.control]
        self.caller.lib.set_control(mxcsr | 0x1F80, x87 | 0x3F)  # all traps are masked
        try:
            return work(out)
        finally:
            self.caller.lib.set_control(*caller.DEFAULT)
