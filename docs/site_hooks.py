"""What `make docs` does beside mkdocs: pages from outside of docs/, and docstrings as Markdown.

Pages link to ``../examples/01_first_decode.py`` and the README to ``docs/factors.md``, so that
links work where the repository is browsed.  In the site every example is a page of its own, and
README, CONTRIBUTING and CHANGELOG are pages beside those of docs/: links are rewritten to match.
"""

import ast
import json
import re
from pathlib import Path

import griffe
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]

# Pages of the site made from files at the root of the repository.
ROOT_PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "license.md": "LICENSE",
}
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
# What a browser would fetch by itself, as opposed to a link that a reader may follow.
REMOTE = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//")


def on_files(files, config):
    """Add the pages whose source is not in docs/."""
    for page, name in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        if name == "LICENSE":
            text = f"# License\n\n```text\n{text}```\n"
        files.append(File.generated(config, page, content=moved_links(text, ROOT)))
    for path in sorted((ROOT / "examples").glob("*.py")):
        page = f"examples/{path.stem}.md"
        files.append(File.generated(config, page, content=example_page(path)))
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        page = f"examples/{path.stem}.md"
        files.append(File.generated(config, page, content=notebook_page(path)))
    return files


def notebook_page(path):
    """A notebook as a page: its prose and its programs, without what they show."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    title, *others = parts
    return "\n\n".join(["---\nhide: [toc]\n---", title, f"`examples/{path.name}`", *others]) + "\n"


def example_page(path):
    """An example as a page: its docstring as prose, then the program."""
    source = path.read_text(encoding="utf-8")
    module = ast.parse(source)
    title, _, text = ast.get_docstring(module).partition("\n")
    program = "\n".join(source.split("\n")[module.body[0].end_lineno :]).strip()
    head = f"---\nhide: [toc]\n---\n\n# {title.rstrip('.:')}\n{text}\n\n`examples/{path.name}`"
    return f"{head}\n\n```python\n{program}\n```\n"


def on_page_markdown(markdown, page, config, files):
    """Rewrite links that leave docs/; generated pages have theirs rewritten already."""
    if page.file.generated_by:
        return markdown
    return moved_links(markdown, Path(page.file.abs_src_path).parent)


def moved_links(text, folder):
    """The text with links to files outside of docs/ leading to the pages made of them."""

    def moved(match):
        target, anchor = match[1], match[2] or ""
        if "://" in target or not (folder / target).exists():
            return match[0]  # left for mkdocs to check
        path = (folder / target).resolve().relative_to(ROOT).as_posix()
        for page, name in ROOT_PAGES.items():
            if path == name:
                path = f"docs/{page}"
        if path == "examples":
            path = "docs/examples.md"
        path = re.sub(r"^examples/(.*)\.(py|ipynb)$", r"docs/examples/\1.md", path)
        if not path.startswith("docs/"):
            raise PluginError(f"a link leads to {path}, which is no page of the site")
        up = "../" * len(folder.relative_to(ROOT / "docs").parts) if folder != ROOT else ""
        return f"]({up}{path.removeprefix('docs/')}{anchor})"

    return LINK.sub(moved, text)


def on_post_build(config):
    """Refuse a site that would fetch something from elsewhere when it is read."""
    for path in Path(config.site_dir).rglob("*.html"):
        found = REMOTE.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(f"{path} would load {found[0]} … from another host")


class MarkdownDocstrings(griffe.Extension):
    """Docstrings as the reference wants them: ``Example:`` is a section, roles are plain names."""

    def on_object(self, *, obj, **kwargs):
        """Change the docstring before it is parsed."""
        if obj.docstring:
            text = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.M)
            obj.docstring.value = re.sub(r":(?:mod|class|func|meth):`", "`", text)
