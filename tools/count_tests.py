#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up what `meson test` ran: count_tests.py BUILD_FOLDER prints "PASSED FAILED SKIPPED".

Reads the JUnit file Meson writes: one case for each TAP line of a unit test program, one for a program that only
has an exit status. Names of failed and skipped cases go to standard error. A program that crashed, timed out or stopped
before its plan counts as a failed case.
"""
import pathlib
import sys
import xml.etree.ElementTree


def main():
    if len(sys.argv) != 2:
        print("usage: count_tests.py BUILD_FOLDER", file=sys.stderr)
        return 2
    path = pathlib.Path(sys.argv[1]) / "meson-logs" / "testlog.junit.xml"
    passed = failed = skipped = 0
    for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
        n_bad = 0
        for case in suite.iter("testcase"):
            name = f"{suite.get('name')}: {case.get('name')}"
            if case.find("failure") is not None or case.find("error") is not None:
                n_bad += 1
                print(f"failed: {name}", file=sys.stderr)
            elif case.find("skipped") is not None:
                skipped += 1
                print(f"skipped: {name}", file=sys.stderr)
            else:
                passed += 1
        # A TAP program that died has an error of its own, outside its cases.
        errors = int(suite.get("errors", 0)) + int(suite.get("failures", 0))
        if errors > n_bad:
            print(f"failed: {suite.get('name')}: ended early", file=sys.stderr)
            n_bad = errors
        failed += n_bad
    print(passed, failed, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
