"""Writes the text of each document of a folder, as other programs read it, beside it: NAME.reference.txt.

    python -m venv venv && venv/bin/pip install pypdfium2 lxml lxml_html_clean olefile openpyxl trafilatura
    venv/bin/python bench/extraction-reference.py FOLDER

A page with a text that people agreed on, as `expected.html` beside `source.html`, is compared with that text.
"""

import ctypes
import io
import re
import sys
import zipfile
from pathlib import Path

import olefile
import openpyxl
import pypdfium2
import pypdfium2.raw as raw
import trafilatura
from lxml import etree, html

SKIPPED = "//script|//style|//noscript|//template|//head|//svg|//comment()"


def pdf(path):
    document = pypdfium2.PdfDocument(path)
    # What is entered in forms and written as a comment is on the page, but not in its text.
    path.with_name(path.name + ".whole.txt").write_text("\n".join(annotations(document)), errors="replace")
    return pages_text(document)


def pages_text(document):
    # pdfium marks the hyphen of a word that is divided between two lines.
    return re.sub("\ufffe\\s*", "", "\n".join(page_words(page) for page in document))


def page_words(page):
    """The text of a page as pdfium reads it as a whole, unless some of it is beside the page."""
    text = page.get_textpage().get_text_range()
    visible = page.get_textpage().get_text_bounded(*page.get_cropbox())
    return text if len(visible.split()) >= len(text.split()) * 0.97 else visible


def annotations(document):
    for page in document:
        for at in range(raw.FPDFPage_GetAnnotCount(page)):
            annotation = raw.FPDFPage_GetAnnot(page, at)
            for key in (b"V", b"Contents"):
                size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
                value = ctypes.create_string_buffer(size)
                raw.FPDFAnnot_GetStringValue(annotation, key, ctypes.cast(value, ctypes.POINTER(ctypes.c_ushort)), size)
                yield value.raw.decode("utf-16-le", "replace").rstrip("\0")
            raw.FPDFPage_CloseAnnot(annotation)


def page_text(data):
    # A text that is decoded already must not be decoded again as its label says.
    parser = html.HTMLParser(encoding="utf-8") if isinstance(data, str) else None
    root = html.fromstring(data.encode() if isinstance(data, str) else data, parser=parser)
    for element in root.xpath(SKIPPED):
        element.drop_tree()
    return "\n".join(root.itertext())


def web(path):
    expected = path.with_name(path.name.replace("source.html", "expected.html"))
    data = path.read_bytes()
    # A page holds more than its main text, and all of it is right.
    path.with_name(path.name + ".whole.txt").write_text(page_text(decoded(data)), errors="replace")
    if expected != path and expected.exists():
        return page_text(expected.read_text("utf-8"))
    return trafilatura.extract(data, favor_recall=True, include_comments=False) or page_text(decoded(data))


def decoded(data):
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data


def parts(path, pattern, blocks, text):
    """The text of the parts of an office file, a line for each block."""
    lines = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not re.fullmatch(pattern, name):
                continue
            root = etree.fromstring(archive.read(name), etree.XMLParser(huge_tree=True, recover=True))
            for block in root.iter("{*}" + blocks):
                # The paragraphs of a text box are blocks of their own in the paragraph that holds the box.
                lines.append("".join(run.text or "" if run.tag.endswith("}" + text) else " "
                                     for run in block.iter("{*}" + text, "{*}tab", "{*}br")
                                     if next(run.iterancestors("{*}" + blocks), None) is block
                                     and next(run.iterancestors("{*}Fallback"), None) is None))
    return "\n".join(lines)


def shown(file):
    """All texts and numbers of an office file, with those of its charts and diagrams and of the files within it."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    roots = [etree.fromstring(part, etree.XMLParser(huge_tree=True, recover=True))
             for name, part in parts.items() if name.endswith(".xml")]
    texts = [element.text or "" for root in roots for element in root.iter("{*}t", "{*}v")]
    names = [sheet.get("name", "") for root in roots for sheet in root.iter("{*}sheet")]
    inner = [name.rsplit("/")[-1] + "\n" + embedded(part) for name, part in parts.items() if "/embeddings/" in name or "afchunk" in name.lower()]
    return "\n".join([*texts, *names, *inner])


def embedded(data):
    if data.startswith(b"PK"):
        return shown(io.BytesIO(data))
    if data.startswith(b"%PDF"):
        return pages_text(pypdfium2.PdfDocument(data))
    if olefile.isOleFile(data):
        container = olefile.OleFileIO(data)
        streams = [container.openstream(name).read() for name in container.listdir()]
        starts = [stream[max(stream.find(b"PK\3\4"), stream.find(b"%PDF"), 0):] for stream in streams]
        # What is no file of these is text, in one of two encodings.
        return "\n".join(embedded(start) if start[:2] in (b"PK", b"%P") else
                         start.decode("latin-1") + "\n" + start.decode("utf-16-le", "ignore") for start in starts)
    return page_text(data) if b"<html" in data[:4096].lower() else data.decode("utf-8", "replace")


def workbook(path):
    book = openpyxl.load_workbook(path, data_only=True, read_only=False)
    return "\n".join(
        str(int(cell.value)) if isinstance(cell.value, float) and cell.value.is_integer() else str(cell.value)
        for sheet in book.worksheets
        if sheet.sheet_state == "visible"
        for row in sheet.iter_rows()
        for cell in row
        # Other numbers and dates are shown in the format of their cell.
        if isinstance(cell.value, str) or (cell.value is not None and cell.number_format == "General")
    )


READERS = {
    ".pdf": pdf,
    ".docx": lambda path: parts(path, r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml", "p", "t"),
    ".pptx": lambda path: parts(path, r"ppt/(slides|notesSlides)/[^/]+\.xml", "p", "t"),
    ".xlsx": workbook,
    ".html": web,
    ".htm": web,
}

for file in sorted(Path(sys.argv[1]).rglob("*")):
    reader = READERS.get(file.suffix.lower())
    if not reader or "expected.html" in file.name:
        continue
    try:
        if file.suffix.lower() in (".docx", ".pptx", ".xlsx"):
            file.with_name(file.name + ".whole.txt").write_text(shown(file), errors="replace")
        file.with_name(file.name + ".reference.txt").write_text(reader(file), errors="replace")
    except Exception as error:
        print(f"{file}: {type(error).__name__} {str(error)[:80]}")
