"""Photographs every page in light, dark and phone, for docs/images/pages.

`python -m scripts.photograph URL OUT NAME=PATH …`: each page of a running `gnomon up` at 1400 and 390 pixels.
It needs Chromium and the development environment.
"""

import shutil
import sys
from pathlib import Path

SIZES = (("", 1400, 900, "light"), ("-dark", 1400, 900, "dark"), ("-phone", 390, 844, "light"))
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main(url: str, out: Path, pages: dict[str, str]) -> None:
    """Write NAME.png, NAME-dark.png and NAME-phone.png for each page."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        for suffix, width, height, scheme in SIZES:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = context.new_page()
            for name, path in pages.items():
                page.goto(url + path)
                page.wait_for_timeout(400)
                page.screenshot(path=out / f"{name}{suffix}.png", full_page=suffix == "-phone")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), dict(item.split("=", 1) for item in sys.argv[3:]))
