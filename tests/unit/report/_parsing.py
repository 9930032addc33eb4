"""Read a page as a browser would, with nothing but the standard library."""

from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "img", "input", "link", "hr"})


class Parsed(HTMLParser):
    """Every element of a page with its attributes, its text, and whether all were closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.faults, self._open = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{name}> is never closed" for name in self._open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        self.faults.append("a comment")

    @property
    def kinds(self):
        """Every pair of element and attribute name, and every element."""
        pairs = {(tag, name) for tag, attributes in self.elements for name in attributes}
        return pairs | {(tag, None) for tag, _ in self.elements}

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]
