"""Makes tests/fuzz/corpus/npy and corpus/npz with NumPy: run it at the top folder. npy_test.cc knows the values."""
import pathlib

import numpy as np

NPY, NPZ = pathlib.Path("tests/fuzz/corpus/npy"), pathlib.Path("tests/fuzz/corpus/npz")
NPY.mkdir(parents=True, exist_ok=True)
NPZ.mkdir(parents=True, exist_ok=True)
values = np.arange(24).reshape(2, 3, 4)
for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"):
    np.save(NPY / f"{code}.npy", values.astype(code))
np.save(NPY / "f4_big_endian.npy", values.astype(">f4"))
np.save(NPY / "c8_big_endian.npy", values.astype(">c8"))
np.save(NPY / "i2_fortran.npy", np.asfortranarray(values.astype("i2")))
np.save(NPY / "scalar.npy", np.float32(2.5))
np.save(NPY / "empty.npy", np.zeros((3, 0, 2), np.float32))
np.save(NPY / "vector.npy", np.array([1.5, -2], np.float64))
np.save(NPY / "bytes.npy", np.array([b"tench", b"", b"goldfish"]))
np.save(NPY / "unicode.npy", np.array(["tench", "\u03b1\U0001f41f"]))
np.save(NPY / "unicode_big_endian.npy", np.array(["tench", "\u03b1\U0001f41f"]).astype(">U5"))
with open(NPY / "version2.npy", "wb") as file:
    np.lib.format.write_array(file, values.astype("f4"), version=(2, 0))
np.save(NPY / "object.npy", np.array([{}, None], dtype=object))
np.save(NPY / "record.npy", np.zeros(2, [("a", "f4"), ("b", "i4")]))
np.savez(NPZ / "stored.npz", x=values.astype("f4"), label=np.int64(7))
np.savez_compressed(NPZ / "deflated.npz", x=values.astype("f4"), label=np.int64(7))
