"""`/docs`: the API on one page, made from its OpenAPI document. It loads nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

from aiohttp import web

from ultracontext.api import openapi

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#222}
code,pre{font:14px/1.4 ui-monospace,monospace;background:#f4f4f4;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}
h2{border-top:1px solid #ddd;padding-top:1rem}td,th{text-align:left;padding:.2rem 1rem .2rem 0}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}code,pre{background:#2a2a2a}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page() -> web.Response:
    headers = {"Content-Security-Policy": POLICY}
    return web.Response(text=_html(), content_type="text/html", headers=headers)


@cache
def _html() -> str:
    document = openapi.document()
    info = document["info"]
    parts = [f"<h1>{escape(info['title'])}</h1><p>{escape(info['description'])}</p>"]
    parts.append('<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>')
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(method, path, operation))
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{escape(info['title'])}</title><style>{STYLE}</style><body>{body}</body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{escape(p.get('description', ''))}</td>"
        "</tr>"
        for p in operation.get("parameters", [])
    )
    answers = "".join(
        f"<tr><td>{status}</td><td>{escape(answer['description'])}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return (
        f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
        f"<p>{escape(operation['summary'])}. {escape(operation.get('description', ''))}</p>"
        f"<table>{rows}</table><h4>Answers</h4><table>{answers}</table>"
    )
