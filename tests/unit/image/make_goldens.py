"""Makes the small images of tests/fuzz/corpus and the goldens of this folder from Pillow 13: run it at the top folder.

decoded.txt: file, width, height, SHA-256 of the RGB bytes of Image.open(file).convert("RGB").
resized.txt: filter, width, height, SHA-256 of pattern(61, 47).resize((width, height), filter), then of pattern(40, 300).
"""
import hashlib
import itertools
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

CORPUS = pathlib.Path("tests/fuzz/corpus")
HERE = pathlib.Path("tests/unit/image")
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def pattern(width, height, depth=8, channels=3):
    """[height, width, channels]: (x*7 + y*13 + c*31) ^ (x*y) modulo 2^depth, stretched to depth where it is above 8."""
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    values = (x * 7 + y * 13 + c * 31) ^ (x * y)
    return values * 257 % 65536 if depth == 16 else values % (1 << depth)


def png(width, height, colour, depth, interlaced=False, n_palette=0, extra=()):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    pixels = pattern(width, height, depth, channels)

    def rows(part):
        out = b""
        for row in part:
            if depth == 16:
                data = row.astype(">u2").tobytes()
            elif depth == 8:
                data = row.astype(np.uint8).tobytes()
            else:
                bits = (row.reshape(-1, 1) >> np.arange(depth - 1, -1, -1)) & 1
                data = np.packbits(bits.astype(np.uint8).ravel()).tobytes()
            out += b"\0" + data
        return out

    if interlaced:
        parts = [pixels[y0::dy, x0::dx] for x0, y0, dx, dy in ADAM7]
        raw = b"".join(rows(part) for part in parts if part.size)
    else:
        raw = rows(pixels)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    if n_palette:
        file += chunk(b"PLTE", bytes((i * 37 + c * 85) % 256 for i in range(n_palette) for c in range(3)))
    for name, data in extra:
        file += chunk(name, data)
    return file + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def bmp(width, height, bits, header_size=40, masks=(), top_down=False, n_colours=0):
    stride = (width * bits + 31) // 32 * 4
    values = pattern(stride, height, 8, 1)[:, :, 0].astype(np.uint8)
    palette = b""
    if bits <= 8:
        n = n_colours or 1 << bits
        entry = (lambda i: [i * 37 % 256, i * 59 % 256, i * 83 % 256])
        palette = b"".join(bytes(entry(i)) + (b"" if header_size == 12 else b"\0") for i in range(n))
    if header_size == 12:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        header = struct.pack("<IiiHHIIiiII", header_size, width, -height if top_down else height, 1, bits,
                             3 if masks else 0, 0, 2835, 2835, n_colours, 0)
        mask_bytes = b"".join(struct.pack("<I", mask) for mask in masks)
        header = (header + mask_bytes).ljust(max(header_size, 40 + len(mask_bytes)), b"\0")
    offset = 14 + len(header) + len(palette)
    data = header + palette + values.tobytes()
    return b"BM" + struct.pack("<IHHI", 14 + len(data), 0, 0, offset) + data


def seeds():
    for colour, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}.items():
        for depth, interlaced in itertools.product(depths, (False, True)):
            n_palette = (1 << depth if depth < 8 else 200) if colour == 3 else 0  # indices 200 to 255 have no colour
            yield f"png/colour{colour}_depth{depth}{'_adam7' if interlaced else ''}.png", png(
                13, 11, colour, depth, interlaced, n_palette)
    yield "png/grey_transparent.png", png(13, 11, 0, 8, extra=[(b"tRNS", b"\0\x10")])
    yield "png/palette_alpha.png", png(13, 11, 3, 4, n_palette=16, extra=[(b"tRNS", bytes(range(0, 160, 10)))])
    exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    yield "png/turned.png", png(13, 11, 2, 8, extra=[(b"eXIf", exif), (b"gAMA", struct.pack(">I", 100000))])
    for bits in (1, 4, 8, 16, 24, 32):
        yield f"bmp/{bits}.bmp", bmp(13, 11, bits)
    yield "bmp/os2.bmp", bmp(13, 11, 8, header_size=12)
    yield "bmp/top_down.bmp", bmp(13, 11, 24, top_down=True)
    yield "bmp/short_palette.bmp", bmp(13, 11, 8, n_colours=200)
    yield "bmp/565.bmp", bmp(13, 11, 16, masks=(0xF800, 0x7E0, 0x1F))
    yield "bmp/rgba_v4.bmp", bmp(13, 11, 32, 108, masks=(0xFF, 0xFF00, 0xFF0000, 0xFF000000))
    yield "bmp/bgrx_masks.bmp", bmp(13, 11, 32, masks=(0xFF0000, 0xFF00, 0xFF))
    grey, colour = pattern(13, 11, 8, 1).astype(np.uint8), pattern(13, 11).astype(np.uint8)
    text = lambda values: "\n".join(" ".join(map(str, row)) for row in values.reshape(11, -1)).encode()
    yield "pnm/1.pbm", b"P1\n# bits\n13 11\n" + text(grey & 1)
    yield "pnm/2.pgm", b"P2 13 11 255\n" + text(grey)
    yield "pnm/3.ppm", b"P3\n13 11\n# a comment\n99\n" + text(colour % 100)
    yield "pnm/4.pbm", b"P4\n13 11\n" + np.packbits((grey & 1)[:, :, 0], axis=1).tobytes()
    yield "pnm/5.pgm", b"P5\n13 11\n255\n" + grey.tobytes()
    yield "pnm/5_16.pgm", b"P5\n13 11\n65535\n" + pattern(13, 11, 16, 1).astype(">u2").tobytes()
    yield "pnm/6.ppm", b"P6\n13 11\n255\n" + colour.tobytes()
    yield "pnm/6_100.ppm", b"P6 13 11 100\n" + (colour % 101).tobytes()


def jpeg_seeds():
    smooth = np.stack([np.fromfunction(lambda y, x: 128 + 100 * np.sin(x / 3 + c) * np.cos(y / 4), (13, 17))
                       for c in range(4)], axis=-1).astype(np.uint8)
    rgb = Image.fromarray(smooth[:, :, :3])
    exif = Image.Exif()
    exif[0x0112] = 6
    yield "420.jpg", rgb, {"quality": 60}
    yield "444.jpg", rgb, {"quality": 90, "subsampling": 0}
    yield "progressive.jpg", rgb, {"quality": 60, "progressive": True}
    yield "restart.jpg", rgb, {"quality": 60, "restart_marker_blocks": 1}
    yield "grey.jpg", rgb.convert("L"), {"quality": 60}
    yield "cmyk.jpg", Image.fromarray(smooth, "CMYK"), {"quality": 60}
    yield "turned.jpg", rgb, {"quality": 60, "exif": exif}


def digest(image):
    return hashlib.sha256(np.ascontiguousarray(np.asarray(image)).tobytes()).hexdigest()


def main():
    names = []
    for name, data in seeds():
        (CORPUS / name).parent.mkdir(parents=True, exist_ok=True)
        (CORPUS / name).write_bytes(data)
        names.append(name)
    (CORPUS / "jpeg").mkdir(parents=True, exist_ok=True)
    for name, image, options in jpeg_seeds():
        image.save(CORPUS / "jpeg" / name, **options)
        names.append(f"jpeg/{name}")
    with open(HERE / "decoded.txt", "w") as out:
        for name in sorted(names):
            image = Image.open(CORPUS / name).convert("RGB")
            print(name, *image.size, digest(image), file=out)
    filters = {"nearest": 0, "box": 4, "bilinear": 2, "hamming": 5, "bicubic": 3, "lanczos": 1}
    with open(HERE / "resized.txt", "w") as out:
        for source, sizes in (((61, 47), [(20, 16), (122, 33), (61, 10), (7, 47), (90, 100), (1, 1)]),
                              ((40, 300), [(20, 30), (35, 64), (41, 299)]), ((2, 3), [(5, 7), (1, 2)])):
            image = Image.fromarray(pattern(*source).astype(np.uint8))
            for size, (name, code) in itertools.product(sizes, filters.items()):
                print(*source, name, *size, digest(image.resize(size, code)), file=out)


main()
