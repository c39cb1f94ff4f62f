#!/usr/bin/env python3
"""side_by_side: opens a report in Chromium, picks two runs in "Two runs side by side", and prints the table as JSON: {"runs": [...], "rows": {...}}.

usage: PYTHON side_by_side.py PAGE.html FIRST SECOND [WIDTH SCREENSHOT.png]
       PYTHON side_by_side.py --without-script PAGE.html     prints the page's text where no script may run

PYTHON has the package playwright, as for scripts/check-page; the browser is the system's chromium. FIRST and SECOND are letters of runs.
"""
import json
import pathlib
import shutil
import sys

from playwright.sync_api import sync_playwright

ROWS = """element => Object.fromEntries([...element.querySelectorAll('tbody tr')].map(
  row => [row.cells[0].textContent, [...row.cells].slice(1).map(cell => cell.textContent)]))"""


def main(arguments):
    scripted = arguments[0] != "--without-script"
    page_file, *rest = arguments if scripted else arguments[1:]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": int(rest[2]) if len(rest) > 2 else 1280, "height": 800}, java_script_enabled=scripted)
        page = context.new_page()
        page.goto(pathlib.Path(page_file).resolve().as_uri())
        if not scripted:
            print(page.locator("main").inner_text())
        else:
            page.get_by_text("Two runs side by side").click()
            page.get_by_label("First run").select_option(rest[0])
            page.get_by_label("Second run").select_option(rest[1])
            table = page.get_by_role("group", name="Two runs side by side")
            heads = table.locator("thead th").all_inner_texts()
            print(json.dumps({"runs": heads[1:3], "rows": table.evaluate(ROWS)}))
            if len(rest) > 3:
                table.scroll_into_view_if_needed()
                page.screenshot(path=rest[3])
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
