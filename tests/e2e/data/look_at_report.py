"""Looks at a report in a real browser as a person would; says what it finds, a line each."""

import os
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

options = webdriver.ChromeOptions()
for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
    options.add_argument(argument)
options.add_argument("--user-data-dir=" + tempfile.mkdtemp())
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = "/usr/bin/chromedriver"
service = webdriver.ChromeService(executable_path=driver)
browser = webdriver.Chrome(options=options, service=service)
try:
    browser.set_window_size(1300, 1000)
    browser.get("file://" + os.path.abspath(sys.argv[1]))

    def find(selector):
        return browser.find_elements(By.CSS_SELECTOR, selector)

    def shown(selector):
        return [element for element in find(selector) if element.is_displayed()]

    print("title:", browser.title)
    print("verdict:", find(".verdict")[0].text)

    failures = find("details.failure")
    print("failures:", len(failures), "open:", len(find("details.failure[open]")))
    if failures:
        print("timing diagrams:", len(shown("svg.waves")))
        print("wrong values:", len(shown("svg.waves rect.wrong")) > 0)
    if len(failures) > 1:
        # By keyboard: the summary of the second one.
        summary = failures[1].find_element(By.TAG_NAME, "summary")
        summary.send_keys(Keys.ENTER)
        print("open after Enter:", len(find("details.failure[open]")))
    links = [link.get_attribute("href") for link in find("details.failure a")]
    missing = [link for link in links if not os.path.exists(link.removeprefix("file://"))]
    print("links:", len(links) > 0, "missing:", missing)

    # The table that can be filtered, by the words that are given.
    for box in find("#filter"):
        table = "#" + box.get_attribute("data-table") + " tbody tr"
        rows = len(shown(table))
        box.send_keys(sys.argv[2])
        left = [row.find_element(By.TAG_NAME, "th").text for row in shown(table)]
        print("rows:", rows, "filtered:", left, find("#shown")[0].text)
        box.clear()

    back = lambda: browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    before = back()
    find("#theme")[0].click()
    print("theme:", before, back(), find("#theme")[0].text)

    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True},
    )
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    print("too wide on a phone:", browser.execute_script(overflow))

    unnamed = [
        element.get_attribute("outerHTML")[:80]
        for element in find("button, input, a, svg")
        if element.is_displayed() and not element.accessible_name and element.get_attribute("class") != "skip"
    ]
    print("without a name:", unnamed)
    print("asked for over the network:", browser.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
        ".filter((name) => !name.startsWith('data:'))"
    ))
    print("console:", [entry["message"] for entry in browser.get_log("browser")])
finally:
    browser.quit()
