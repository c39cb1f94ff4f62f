"""page: what can be said of an HTML page without a browser: what it links, names, heads, and leaves open."""
import base64
import hashlib
import html.parser
import re

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# In SVG an element may close itself; in HTML that means nothing.
SVG = {"svg", "path", "rect", "text", "title", "desc"}


class Page(html.parser.HTMLParser):
    """Parses a page; `problems` lists what is wrong with it as a page that stands alone and that everyone can read."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text = text
        self.open, self.ids, self.links, self.problems, self.headings = [], [], [], [], []
        self.lang, self.title, self.texts = None, "", []
        self.labels, self.svgs, self.landmarks = [], [], []
        self.scripts, self.script = 0, ""
        self.feed(text)
        self.close()
        self.judge()

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if len(a) != len(attributes):
            self.problems.append(f"<{tag}> has an attribute twice")
        for name, value in attributes:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.problems.append(f"<{tag} {name}> is a script")
        if "id" in a:
            self.ids.append(a["id"])
        if tag == "html":
            self.lang = a.get("lang")
        if tag == "script":
            self.scripts += 1
            if a or self.scripts > 1:
                self.problems.append("a script that is not the page's own")
        if tag in ("iframe", "object", "embed", "link", "base", "form"):
            self.problems.append(f"<{tag}> has no place in a report")
        if tag == "a":
            self.links.append(a.get("href"))
        if "src" in a and not a["src"].startswith("data:image/png;base64,"):
            self.problems.append(f"<{tag}> loads {a['src'][:60]}")
        if tag == "image" and not (a.get("href") or "").startswith("data:image/png;base64,"):
            self.problems.append(f"<image> loads {str(a.get('href'))[:60]}")
        if tag == "img" and not a.get("alt"):
            self.problems.append("an image without a text in its stead")
        if tag == "th" and a.get("scope") not in ("col", "row"):
            self.problems.append("a table header without its scope")
        if tag == "svg":
            self.svgs.append({"role": a.get("role"), "inside": set()})
            if "xmlns" in a:
                self.problems.append("an SVG of its own inside the page")
        elif "svg" in self.open:
            self.svgs[-1]["inside"].add(tag)
        if tag == "section" or a.get("role") == "region":
            self.landmarks.append(a.get("aria-labelledby") or a.get("aria-label"))
        if "aria-labelledby" in a:
            self.labels += a["aria-labelledby"].split()
        if a.get("tabindex") == "0" and not (a.get("aria-label") or a.get("aria-labelledby")):
            self.problems.append("something that takes the focus has no name")
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        if "svg" not in self.open:
            self.problems.append(f"<{tag}/> closes itself")
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:] or 'nothing'}")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open and self.open[-1] == "title" and "svg" not in self.open:
            self.title += data
        if self.open and self.open[-1] == "script":
            self.script += data
        elif self.open and self.open[-1] != "style":
            self.texts.append(data)

    def judge(self):
        p = self.problems
        if self.open:
            p.append(f"left open: {self.open}")
        if not self.text.startswith("<!DOCTYPE html>"):
            p.append("no doctype")
        if not self.lang:
            p.append("no language")
        if not self.title.strip():
            p.append("no title")
        p += [f"id {i!r} twice" for i in sorted({i for i in self.ids if self.ids.count(i) > 1})]
        p += [f"two landmarks are called {name!r}" for name in sorted({n for n in self.landmarks if self.landmarks.count(n) > 1})]
        p += [f"no such place: {link}" for link in self.links if not (link or "").startswith("#") or link[1:] not in self.ids]
        p += [f"no such label: {label}" for label in self.labels if label not in self.ids]
        if self.headings.count(1) != 1 or self.headings[0] != 1:
            p.append(f"headings begin {self.headings[:3]}, with {self.headings.count(1)} of the first level")
        p += [f"h{b} after h{a}" for a, b in zip(self.headings, self.headings[1:]) if b > a + 1]
        for svg in self.svgs:
            if svg["role"] != "img" or not {"title", "desc"} <= svg["inside"]:
                p.append("an SVG without role, title and description")
        # The page's policy names the one script by its hash, and a browser runs no other.
        digest = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()
        if f"script-src 'sha256-{digest}'" not in self.text:
            p.append("the script is not the one that the policy names")
        # Nothing but data: may be fetched, by elements or by style sheets.
        p += [f"a style loads {url}" for url in re.findall(r"url\(([^)]*)\)|@import", self.text)]

    def visible(self):
        return " ".join("".join(self.texts).split())
