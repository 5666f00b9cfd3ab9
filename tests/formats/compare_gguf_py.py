# SPDX-License-Identifier: Apache-2.0
"""Decodes random blocks with mizan and with the `gguf` Python package and compares them bit for bit.

Run by hand (CI does not need the package), from anywhere:

    python3 -m venv /tmp/gguf && /tmp/gguf/bin/pip install gguf==0.19.0
    /tmp/gguf/bin/python tests/formats/compare_gguf_py.py

It compiles src/fmt/dtype*.c with $CC (default cc) into a temporary shared object. Block bytes are
random, so scales include infinities, NaNs and subnormals; NaN equals NaN. Formats that the package
cannot decode are listed as such. Exit status 1 when any format differs.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np

N_BLOCK = 20000
# The package still gives Q8_1 (an activation format, never in files) its former size, 40 bytes; ggml's block has 36.
STALE_IN_PACKAGE = {"Q8_1"}
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Info(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("block_elems", ctypes.c_uint32), ("block_bytes", ctypes.c_uint32), ("is_low_bit", ctypes.c_bool),
        ("decode", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
    ]


def load(folder):
    lib = pathlib.Path(folder) / "dtype.so"
    sources = sorted(str(p) for p in (ROOT / "src/fmt").glob("dtype*.c"))
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-O2", "-ffp-contract=off", "-fno-strict-aliasing", "-shared", "-fPIC",
                    f"-I{ROOT}/src", f"-I{ROOT}/include", "-o", lib, *sources], check=True)
    dll = ctypes.CDLL(str(lib))
    dll.mz_dtype_get.restype = ctypes.POINTER(Info)
    return dll


def peer_decode(raw, kind):
    """f32 values, or None where the package has no decoder for the format."""
    plain = {"F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64}
    if kind.name in plain:
        return raw.view(plain[kind.name]).astype(np.float32)
    try:
        return np.ascontiguousarray(gguf.dequantize(raw, kind), dtype=np.float32)
    except NotImplementedError:
        return None


def same_bits(a, b):
    a, b = a.ravel(), b.ravel()
    return (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))


def main():
    rng = np.random.default_rng(1)
    failed = compared = 0
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        dll = load(folder)
        for number in range(43):
            row = dll.mz_dtype_get(number)
            if not row:
                continue
            info = row.contents
            name = info.name.decode()
            try:
                kind = gguf.GGMLQuantizationType(number)
            except ValueError:
                print(f"{name:8} not known to the package")
                continue
            if name in STALE_IN_PACKAGE:
                continue
            if kind.name != name or tuple(gguf.GGML_QUANT_SIZES[kind]) != (info.block_elems, info.block_bytes):
                print(f"{name:8} DIFFERS in name or size: {kind.name} {gguf.GGML_QUANT_SIZES[kind]}")
                failed += 1
                continue
            if not info.decode:
                print(f"{name:8} name and size agree; mizan has no decoder")
                continue
            raw = rng.integers(0, 256, (N_BLOCK, info.block_bytes), dtype=np.uint8)
            ours = np.empty((N_BLOCK, info.block_elems), np.float32)
            info.decode(raw.ctypes.data, ours.ctypes.data, ours.size)
            theirs = peer_decode(raw, kind)
            if theirs is None:
                print(f"{name:8} name and size agree; the package has no decoder")
                continue
            bad = int((~same_bits(ours, theirs)).sum())
            compared += 1
            failed += bad > 0
            print(f"{name:8} {ours.size} values, {bad} differ" + (" DIFFERS" if bad else ""))
    print(f"{compared} formats compared, {failed} differ")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
