"""Opens a page in a real browser as a person would, and prints what it finds as JSON.

    look_at_report.py PAGE WORDS [--time]    # WORDS filter the lists of the page

With --time it prints only how much processor time the page takes until it can be used.
"""

import base64
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WORDS = sys.argv[2]
PAGE = "file://" + os.path.abspath(sys.argv[1])
AXE = pathlib.Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]) / "axe.min.js"
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
DESK = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
# Elements that are wider than the page, if nothing scrolls them.
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"

options = webdriver.ChromeOptions()
for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
    options.add_argument(argument)
options.add_argument("--user-data-dir=" + tempfile.mkdtemp())
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path="/usr/bin/chromedriver"))
browser.set_script_timeout(300)
command, script = browser.execute_cdp_cmd, browser.execute_script


def find(selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def shown(selector):
    return [element for element in find(selector) if element.is_displayed()]


def look(device, scheme):
    command("Emulation.setDeviceMetricsOverride", device)
    command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get(PAGE)


def wait(condition):
    end = time.time() + 60
    while not condition():
        assert time.time() < end, "the page does not react"
        time.sleep(0.02)


# Leaves of each table and listing the first lines, and lines that look different from those before.
TRIM = """
for (const body of document.querySelectorAll('tbody, pre.rtl')) {
  const looks = new Set();
  [...body.children].forEach((line, place) => {
    const all = [line, ...line.querySelectorAll('*')].map((one) => one.tagName + one.getAttribute('class'));
    if (place > 2 && all.every((look) => looks.has(look))) line.remove();
    all.forEach((look) => looks.add(look));
  });
}
"""


def accessibility():
    """The violations that axe finds, also in what is folded at first. Thousands of equal cells take
    it minutes, so it sees one of each kind."""
    script(AXE.read_text())
    script(OPEN_ALL)
    wait(lambda: len(find(".list")) == len(find(".list .tools")))
    script(TRIM)
    result = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(done);"
    )
    assert result["passes"], "axe checked nothing"
    return [
        f"{one['id']}: {node['target']} {node['html'][:160]}" for one in result["violations"] for node in one["nodes"][:3]
    ]


def lists():
    """Every list of the page: rows, and what a search and a click on the first head leave."""
    found = {}
    for root in find(".list"):
        name = root.get_attribute("id").removesuffix("-list")
        table = root.find_element(By.TAG_NAME, "table")
        box = root.find_element(By.CSS_SELECTOR, "input[type=search]")
        count = root.find_element(By.CSS_SELECTOR, "[role=status]")
        first = lambda: [
            row.find_element(By.CSS_SELECTOR, "th, td").text.split("\n")[0]
            for row in table.find_elements(By.CSS_SELECTOR, "tbody tr") if row.is_displayed()
        ]
        before = count.text
        box.send_keys(WORDS)
        searched, left = count.text, first()
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(Keys.DELETE)
        head = table.find_element(By.CSS_SELECTOR, "thead th")
        orders = []
        for _ in range(2):
            head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
            orders.append([head.get_attribute("aria-sort"), first()[:1]])
        facets = {
            select.find_element(By.XPATH, "..").text.split("\n")[0]: [one.text for one in select.find_elements(By.TAG_NAME, "option")]
            for select in root.find_elements(By.TAG_NAME, "select")
        }
        found[name] = {"count": before, "searched": searched, "left": left, "orders": orders, "facets": facets}
    return found


def keyboard():
    """Whether the keys work that the page has: steps, the list of keys, and search, which is in the address."""
    press = lambda key: browser.switch_to.active_element.send_keys(key)
    active = lambda: script("return document.activeElement.textContent.trim()")
    browser.get("about:blank")
    browser.get(PAGE)
    press("j")
    first = active()
    for key in "jk":
        press(key)
    done = {"steps": bool(first) and active() == first}
    press("?")
    done["keys"] = len(shown("dialog")) == 1
    press(Keys.ESCAPE)
    done["closes"] = not shown("dialog")
    boxes = shown(".list input[type=search]")
    if boxes:
        press("/")
        press("a,b c")
        address = browser.current_url
        browser.get("about:blank")
        browser.get(address)
        done["address"] = any(box.get_attribute("value") == "a,b c" for box in shown("input[type=search]"))
    return done


def transition():
    """Selects the first transition of the state diagram by keyboard."""
    arrows = find("a.arrow")
    if not arrows:
        return None
    arrows[0].send_keys(Keys.ENTER)
    rows = find(".transition tbody tr")
    return {
        "caption": find(".transition caption")[0].text,
        "rules": [row.find_element(By.TAG_NAME, "th").text for row in rows],
        "heads": [head.text.split("\n")[0] for head in find(".transition thead th")],
    }


def inspector():
    """Steps, searches, and goes to what assigns the first signal."""
    root = find(".inspector")[0]
    inside = lambda selector: root.find_elements(By.CSS_SELECTOR, selector)
    names = lambda: [one.text for one in inside(".row button.name")]
    values = lambda: [one.text for one in inside(".row code") if one.text]
    cycle = lambda: int(inside("output")[0].text.split()[1])
    seen = {"first": names()[:2], "values": values()[:2], "cycle": cycle()}
    rows = inside(".rows")[0]
    rows.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    seen["stepped"] = cycle()
    rows.send_keys(Keys.END)
    seen["end"] = cycle()
    before = len(names())
    inside("input[type=search]")[0].send_keys("cur_state")
    inside(".found button")[0].click()
    seen["added"] = [len(names()) - before, names()[-1]]
    inside(".row button.name")[1].click()
    lines = inside(".source .rtl span")
    top, height = script("const s = arguments[0]; return [s.scrollTop, s.clientHeight]", inside(".source")[0])
    seen["assigned"] = [line.text for line in lines if top <= script("return arguments[0].offsetTop", line) <= top + height]
    seen["marked"] = [line.text.split()[0] for line in inside(".source .rtl .part")]
    return seen


def smallest_text():
    """The smallest text of the state diagram, in pixels."""
    sizes = script(
        "return [...document.querySelectorAll('.states text')]"
        ".map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    )
    return round(min(sizes), 1) if sizes else None


def whole():
    seen = {}
    look(DESK, "light")
    seen["title"] = browser.title
    seen["verdict"] = find(".verdict")[0].text
    seen["tone"] = find(".verdict")[0].get_attribute("class").split()[-1]
    seen["facts"] = [fact.text for fact in find(".top .facts li")]
    seen["command"] = "".join(one.text for one in find("#reproduce"))
    seen["sections"] = [link.get_attribute("href").split("#")[1] for link in find(".top nav a")]
    seen["folded"] = [one.get_attribute("id") for one in find("details.section:not([open])")]
    # The header stays, whatever is scrolled.
    script("scrollTo(0, document.documentElement.scrollHeight)")
    seen["header stays"] = script("return Math.abs(document.querySelector('.top').getBoundingClientRect().top) < 1")
    script("scrollTo(0, 0)")
    for button in shown(".top button.copy"):
        button.click()
        wait(lambda: find("#said")[0].get_property("textContent") == "Copied")
    failures = find("details.failure")
    seen["failures"] = {"count": len(failures), "open": len(find("details.failure[open]"))}
    seen["diagrams"] = len(shown(".waves"))
    seen["wrong"] = len(shown(".waves rect.wrong"))
    if find(".inspector"):
        seen["inspector"] = inspector()
    if len(failures) > 1:
        failures[1].find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
        seen["failures"]["open after Enter"] = len(find("details.failure[open]"))
    files = script(
        "return [...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))"
        ".filter((href) => href && !href.startsWith('#'))"
        ".map((href) => decodeURIComponent(new URL(href, location).pathname))"
    )
    missing = [path for path in files if not os.path.exists(path)]
    seen["files"] = {"count": len(files), "missing": missing}
    script(OPEN_ALL)
    wait(lambda: len(find(".list")) == len(find(".list .tools")))
    seen["lists"] = lists()
    seen["transition"] = transition()
    seen["keyboard"] = keyboard()
    look(DESK, "light")
    script(OPEN_ALL)
    anchors = script(
        "return [...new Set([...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))"
        ".filter((href) => href?.startsWith('#')))]"
    )
    seen["anchors"] = {
        "count": len(anchors),
        "missing": [one for one in anchors if not script("return document.getElementById(arguments[0]) !== null", one[1:])],
        "kinds": sorted({one[1:].split("-")[0] for one in anchors}),
    }
    # A deep link opens what is folded around its target.
    rule = next((one for one in anchors if one.startswith("#spec-")), None)
    if rule:
        browser.get("about:blank")
        browser.get(PAGE + rule)
        wait(lambda: script("return document.getElementById(arguments[0]).getBoundingClientRect().top < innerHeight", rule[1:]))
        seen["deep link"] = script(
            "const top = document.getElementById(arguments[0]).getBoundingClientRect().top;"
            "return top >= document.querySelector('.top').offsetHeight - 1 && top < innerHeight", rule[1:])
    back = lambda: script("return getComputedStyle(document.body).backgroundColor")
    before = back()
    find("#theme")[0].click()
    seen["theme"] = [before, back()]
    seen["axe"], seen["too wide"], seen["smallest text"] = [], [], []
    for device in (DESK, PHONE):
        for scheme in ("light", "dark"):
            look(device, scheme)
            script(OPEN_ALL)
            seen["too wide"].append(script(OVERFLOW))
            seen["smallest text"].append(smallest_text())
            seen["axe"] += [f"{device['width']} {scheme}: {one}" for one in accessibility()]
    # A timing diagram on a phone scrolls, and the first wrong cycle is in sight.
    seen["scrolled to the error"] = script(
        "const waves = document.querySelector('.waves');"
        "if (!waves) return null;"
        "const box = waves.getBoundingClientRect();"
        "const wrong = [...waves.querySelectorAll('rect.wrong')].map((one) => one.getBoundingClientRect().left);"
        "return Math.min(...wrong) >= box.left - 1 && Math.min(...wrong) < box.right"
    )
    look(DESK, "light")
    pdf = base64.b64decode(command("Page.printToPDF", {"printBackground": True})["data"])
    seen["printed pages"] = max(int(count) for count in re.findall(rb"/Count (\d+)", pdf))
    seen["network"] = script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith('data:'))"
    )
    seen["console"] = [entry["message"] for entry in browser.get_log("browser")]
    # Without JavaScript everything is there, and no control that needs it.
    command("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(PAGE)
    seen["without script"] = {
        "headings": len(find("h2")),
        "buttons": len(shown("button")),
        "rows": len(find("table tr")),
    }
    return seen


def timed():
    """Processor time of the page's thread until its lists react to a search, in seconds."""
    command("Performance.enable", {"timeDomain": "threadTicks"})
    browser.get(PAGE)
    metrics = lambda: {one["name"]: one["value"] for one in command("Performance.getMetrics", {})["metrics"]}
    wait(lambda: script("return document.readyState") == "complete" and find("#cases-list .tools"))
    loaded = metrics()["TaskDuration"]
    box = find("#cases-list input[type=search]")[0]
    box.send_keys(WORDS)
    return {
        "until usable": loaded,
        "with a search": metrics()["TaskDuration"],
        "count": find("#cases-list [role=status]")[0].text,
        "rows": len(find("#cases-list tbody tr")),
    }


try:
    print(json.dumps(timed() if "--time" in sys.argv else whole()))
finally:
    browser.quit()
