"""Writes the seeds of the fuzz targets into seeds/: python seeds.py (needs pyarrow, numpy and scipy).

Files of one name are replaced; regression cases, whose names begin with "case", stay.
"""

import datetime
import decimal
import gzip
import io
import pathlib
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import scipy.sparse

FOLDER = pathlib.Path(__file__).parent / "seeds"
CRATES = pathlib.Path(__file__).parent.parent / "crates"


def put(target, name, content):
    path = FOLDER / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


TEXT = {
    "comma": "a,b,c\n1,2,3\n4,5,6\n",
    "quoted": 'n,x\n"a\nb",1\n"say ""x""",2\n',
    "tab": "1\t2\t\n3\t\t4\n\t\t\n",
    "blanks": "  1.0e0   2.0\n\n  3.0  -4.0 \n",
    "semicolon": "x;y\r\n1,5;2,5\r\n1,5;NA\r\n",
    "comments": "\ufeff# note\n% more\n\n;; last\nx y\n1 2\n",
    "row-names": "x,y\nr1,1,2\nr2,3,4\n",
    "returns": "a,b\r1,2\r3,4\r",
    "text": "k,v\nred,1\nblue,2\nred,inf\n",
    "extremes": "1e308,-0.0,5e-324\n-1e308,12345678901234567890,.5\n",
    "ragged": "1,2\n3\n",
    "zeros": b"1,2\n\0,3\n",
    "wide": ",".join(map(str, range(400))) + "\n" + "," * 399 + "\n",
}
for name, text in TEXT.items():
    put("text", name, text)
    put("gzip", name, b"\1" + (text if isinstance(text, bytes) else text.encode()))
put("gzip", "stored", b"\0" + gzip.compress(TEXT["comma"].encode(), mtime=0)[2:])
put("gzip", "two-members", b"\0" + (gzip.compress(b"1,2\n", mtime=0) + gzip.compress(b"3,4\n", mtime=0))[2:])

for name, text in {
    "header": "row,cluster\n2,0\n3,1\n5,0\n",
    "lines": "red\nblue\nred\n",
    "title": "Species\n1\n1\n2\n",
    "column": "x,cluster\n1.5,a\n2.5,b\n",
    "missing": "cluster\na\nNA\n",
}.items():
    put("labels", name, text)

# The parts of a workbook with a zero byte between: sheet, texts, styles, workbook and two lists of relations. What is
# left out has a usual form; see targets/workbook.rs.
SHEET = """<worksheet><dimension ref="A1:D3"/><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>say "y", z</t></is></c><c r="C1" t="str"><v>day</v></c>
<c r="D1" t="str"><v>ok</v></c></row>
<row r="2"><c r="A2"><v>1.5</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" s="1"><v>45352</v></c><c r="D2" t="b"><v>1</v></c></row>
<row r="4"><c r="A4"><v>-2e300</v></c><c r="B4" t="e"><v>#N/A</v></c><c r="D4"><f>A2*2</f><v>3</v></c></row>
</sheetData></worksheet>"""
NUMBERS = """<worksheet><sheetData><row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4.25</v></c></row></sheetData>
</worksheet>"""
TEXTS = '<sst count="3" uniqueCount="{}"><si><t>x</t></si><si><r><t>re</t></r><r><t>d</t></r></si></sst>'
STYLES = """<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm"/></numFmts><fonts><font><sz val="11"/>
<name val="Sans"/></font></fonts><cellXfs><xf numFmtId="0" fontId="0"/><xf numFmtId="164" fontId="0"/></cellXfs></styleSheet>"""
put("workbook", "sheet", SHEET)
put("workbook", "numbers", NUMBERS)
put("workbook", "parts", "\0".join([SHEET, TEXTS.format(2), STYLES]))
# Rows and columns far away, and cells in no order.
far = '<worksheet><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
put("workbook", "case-far", far.replace('<row r="1048576">', '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576">'))
put("workbook", "case-order", SHEET.replace('r="4"', 'r="1"').replace("A4", "A1"))
# The stated number of texts, for which calamine makes room.
put("workbook", "case-count", "\0".join([SHEET, TEXTS.format(2**63)]))
put("workbook", "case-stated", "\0".join([SHEET, TEXTS.format("k")]))
# Styles that copy a long name, and sheets that copy a long path.
styles = STYLES.replace("Sans", "S" * 20000).replace("</cellXfs>", "<xf fontId='0'></xf>" * 2000 + "</cellXfs>")
put("workbook", "case-styles", "\0".join([SHEET, TEXTS.format(2), styles]))
RELATION = '<Relationship Id="{}" Target="{}" Type="http://x/worksheet"/>'
book = '<workbook><sheets>{}</sheets></workbook>'.format('<sheet name="s" r:id="r"/>' * 2000)
relations = "<Relationships>{}</Relationships>".format(RELATION.format("r", "w" * 20000))
put("workbook", "case-paths", "\0".join([SHEET, TEXTS.format(2), STYLES, book, relations]))

JSON = {
    "lines": '{"x":1.5,"s":"a","b":true}\n{"x":null,"s":"b\\u00e9"}\n\n{"b":false,"y":-2e3}\n',
    "array": '[{"x":1,"y":2},{"y":3,"x":4}]',
    "lists": '{"id":"a","e":[1,2.5,-3]}\n{"id":"b","e":[0,null,1]}\n{"id":"c","e":null}\n',
    "ragged": '{"e":[1,2],"z":1}\n{"e":[1],"z":2}\n{"e":7,"z":3}\n',
    "nested": '{"o":{"p":[1,{"q":2}]},"l":["a",[1]],"x":1}\n{"o":{},"l":[],"x":12345678901234567890}\n',
    "mark": '\ufeff {"x": 1}\r\n {"x": 2}\r\n',
    "keys": "".join(f'{{"k{i}":{i}}}\n' for i in range(40)),
    "deep": '{"x":' + "[" * 200 + "]" * 200 + "}\n",
}
for name, text in JSON.items():
    put("json", name, text)
    put("gzip", f"json-{name}", b"\1" + text.encode())

for dtype in ("<f8", "<f4", "<f2", ">f2", "|i1", ">i2", "|u1", "<i8", "|b1", "<U3", "<c16"):
    for order in "CF":
        file = io.BytesIO()
        array = np.array([[1, 2], [3, 4], [5, 6]], order=order).astype(dtype, order=order)
        np.save(file, array)
        put("npy", f"{dtype[1:]}-{order}", file.getvalue())
file = io.BytesIO()
np.lib.format.write_array(file, np.arange(4.0), version=(2, 0))
put("npy", "version-2", file.getvalue())

similar = np.array([[1, 0.25, 0, 0], [0.25, 1, 0.5, 0], [0, 0.5, 1, 0.125], [0, 0, 0.125, 1]])
for form in ("csr", "csc", "coo", "bsr"):
    for compressed in (True, False):
        file = io.BytesIO()
        scipy.sparse.save_npz(file, getattr(scipy.sparse, form + "_matrix")(similar), compressed=compressed)
        put("npz", f"{form}-{'deflate' if compressed else 'stored'}", file.getvalue())
        if form == "csr":
            put("similarity", f"{'deflate' if compressed else 'stored'}.npz", file.getvalue())

MTX = {
    "general": "%%MatrixMarket matrix coordinate real general\n% note\n3 3 7\n1 1 1\n1 2 .25\n2 1 .25\n2 2 1\n2 3 .125\n"
    "3 2 .125\n3 3 1\n",
    "symmetric": "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 .5\n2 2 1\n3 3 2\n",
    "pattern": "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
    "array": "%%MatrixMarket matrix array real symmetric\n3 3\n1\n.25\n0\n1\n.125\n1\n",
    "claim": "%%MatrixMarket matrix coordinate real general\n67108864 67108864 1\n1 1 1\n",
}
for name, text in MTX.items():
    put("mtx", name, text)
    put("similarity", f"{name}.mtx", text)
put("similarity", "dense.csv", "\n".join(",".join(map(str, row)) for row in similar) + "\n")
file = io.BytesIO()
np.save(file, similar)
put("similarity", "dense.npy", file.getvalue())

table = pa.table(
    {
        "x": pa.array([0.5, None, 2.5, 3.5], pa.float64()),
        "f4": pa.array([0.1, 0.2, 0.3, None], pa.float32()),
        "i": pa.array([1, 2, 3, 4], pa.int64()),
        "u": pa.array([1, 2, 3, 4], pa.uint32()),
        "b": pa.array([True, False, True, None]),
        "s": pa.array(["u", "v", None, "u"]),
        "d": pa.array(["p", "q", "p", None]).dictionary_encode(),
        "m": pa.array([decimal.Decimal("-1.25"), None, decimal.Decimal("3.50"), None], pa.decimal128(10, 2)),
        "t": pa.array([datetime.datetime(2020, 1, day) for day in (1, 2, 3, 4)]),
        "none": pa.nulls(4),
        "l": pa.array([[1.0], [2.0, 3.0], None, []]),
    }
)
plain = pa.table({"x": np.arange(300.0), "y": np.zeros(300), "z": np.arange(300) % 7})
for codec in ("none", "snappy", "gzip", "zstd", "lz4"):
    for version in ("1.0", "2.0"):
        file = io.BytesIO()
        source = plain if version == "1.0" else table
        pq.write_table(source, file, compression=codec, data_page_version=version, row_group_size=3 if source is table else 200)
        put("parquet", f"{codec}-v{version[0]}", file.getvalue())
for codec in ("uncompressed", "lz4", "zstd"):
    for name, source in (("mixed", table), ("plain", plain)):
        file = io.BytesIO()
        pa.feather.write_feather(source, file, compression=codec)
        put("arrow", f"{name}-{codec}", file.getvalue())
        options = pa.ipc.IpcWriteOptions(compression=None if codec == "uncompressed" else codec)
        file = io.BytesIO()
        with pa.ipc.new_stream(file, source.schema, options=options) as stream:
            stream.write_table(source)
        put("arrow", f"{name}-{codec}-stream", file.getvalue())
halves = np.arange(12, dtype=np.float16)
lists = pa.table(
    {
        "fixed": pa.FixedSizeListArray.from_arrays(pa.array(halves), 3),
        "bytes": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(8, dtype=np.int8)), 2),
        "even": pa.array([[1.0, 2.0], None, [3.0, None], [5.0, 6.0]], pa.list_(pa.float32())),
        "large": pa.array([[1], [2], [], [4]], pa.large_list(pa.uint64())),
    }
)
for version in ("1.0", "2.0"):
    file = io.BytesIO()
    pq.write_table(lists, file, data_page_version=version, row_group_size=3)
    put("parquet", f"lists-v{version[0]}", file.getvalue())
file = io.BytesIO()
pa.feather.write_feather(lists, file, compression="uncompressed")
put("arrow", "lists", file.getvalue())
views = pa.table({"v": pa.array(["a", "a longer text than twelve bytes", None], pa.string_view()), "x": [1.0, 2.0, 3.0]})
file = io.BytesIO()
with pa.ipc.new_file(file, views.schema) as out:
    out.write_table(views)
put("arrow", "views", file.getvalue())

for name in ("model-v1-f32.rpf", "model-v1-f64.rpf", "v1.rpf"):
    (FOLDER / "model").mkdir(exist_ok=True)
    shutil.copy(CRATES / "rpfcluster/tests/fixtures" / name, FOLDER / "model" / name)

put("forest", "integers", bytes([0, 3, 2, 1, 1]) + bytes((i * 7) % 60 for i in range(90)))
put("forest", "identical", bytes([1, 3, 0, 1, 2]) + bytes([4] * 60))
put("forest", "any-bits", bytes([66, 5, 3, 9, 0]) + b"".join(b"\xc0" + np.float64(x).tobytes() for x in (1e308, -1e308, 5e-324, 0.0, 1.0)))
put("graph", "ring", bytes([9]) + bytes(b for i in range(10) for b in (i, (i + 1) % 10, 4)) + bytes([0, 0, 4]))
put("graph", "two", bytes([5]) + bytes([0, 1, 4, 1, 2, 4, 3, 4, 8, 4, 5, 8]))
put("graph", "scales", bytes([3]) + bytes([0, 1]) + b"\xc0" + np.float64(1e300).tobytes() + bytes([1, 2]) + b"\xc0" + np.float64(1e-300).tobytes() + bytes([2, 3, 4]))
put("quantized", "mixed", bytes([3, 2]) + bytes((i * 37) % 180 for i in range(120)))
put("quantized", "large", bytes([2, 226]) + bytes((i * 53) % 190 for i in range(90)))
put("quantized", "large-single", bytes([3, 235]) + bytes((i * 29) % 190 for i in range(64)))
put("quantized", "outlier", bytes([1, 0]) + bytes([4, 5, 6, 7]) + b"\xc0" + np.float64(1e300).tobytes())

for name, line in {
    "cluster": "cluster data.csv -k 3 --trees 200 --seed 7 -o labels.csv",
    "auto": "cluster data.csv -k auto --max-k 8 --trees auto --min-node auto",
    "paper": "cluster d.csv -k 2 --affinity paper --beta1 0.4 --beta2 auto --diagonal drop",
    "kernel": "kernel d.npy --min 0.1 -o k.npz",
    "sweep": "sweep d.csv -k 2 --beta1 0.1:0.9:0.2 --beta2 0.1,0.5",
    "columns": "embed d.csv -k 2 --drop 1,3 --standardize all --label class --missing drop",
    "matrix": "cluster k.mtx --precomputed -k 2 --method ncut",
    "limits": "cluster d.csv -k 2 --memory-limit 4G --threads 2",
    "plot": "plot model.rpf --kind heatmap -o fig.pdf",
    "help": "cluster --help",
}.items():
    put("arguments", name, line.replace(" ", "\0"))
for name, text in {
    "options": 'trees = 100\nmin-node = "auto"\nseed = 3\n',
    "lists": 'drop = ["a", 2]\nstandardize = "all"\nquiet = true\n',
    "unknown": "tres = 1\n",
    "types": "trees = [1]\nquiet = 3\nseed = 1979-05-27\n",
    "nested": "[a.b]\nc = {d = 1}\n",
}.items():
    put("config", name, text)
