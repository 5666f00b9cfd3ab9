"""NPY v1.0, little-endian float32, C order: read and write with the standard library alone.

Only what the golden tests need. read() returns (shape, array('f')); anything else in the file is an error
which names the file, since a wrong header must not pass as wrong numbers.
"""
import array
import ast
import struct
import sys

MAGIC = b"\x93NUMPY\x01\x00"


def read(path):
    with open(path, "rb") as f:
        b = f.read()
    if b[:8] != MAGIC:
        raise ValueError("%s: not an NPY v1.0 file" % path)
    n = struct.unpack("<H", b[8:10])[0]
    if (10 + n) % 64:
        raise ValueError("%s: data starts at %d, not at a multiple of 64" % (path, 10 + n))
    h = ast.literal_eval(b[10:10 + n].decode("latin-1"))
    if h.get("descr") != "<f4" or h.get("fortran_order") is not False:
        raise ValueError("%s: wanted '<f4' in C order, found %r" % (path, h))
    count = 1
    for d in h["shape"]:
        count *= d
    if len(b) - 10 - n != 4 * count:
        raise ValueError("%s: shape %r needs %d bytes, %d are there" % (path, h["shape"], 4 * count, len(b) - 10 - n))
    a = array.array("f", b[10 + n:])
    if sys.byteorder == "big":
        a.byteswap()
    return h["shape"], a


def write(path, shape, values):
    h = repr({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).encode()
    h += b" " * (-(len(h) + 11) % 64) + b"\n"
    a = array.array("f", values)
    if sys.byteorder == "big":
        a.byteswap()
    with open(path, "wb") as f:
        f.write(MAGIC + struct.pack("<H", len(h)) + h + a.tobytes())
