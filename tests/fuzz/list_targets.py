# SPDX-License-Identifier: Apache-2.0
"""Names of the fuzz targets beside this file; Meson has no glob, and a target that is not wired would rot."""
import pathlib

print(" ".join(sorted(p.stem[len("fuzz_"):] for p in pathlib.Path(__file__).parent.glob("fuzz_*.c"))))
