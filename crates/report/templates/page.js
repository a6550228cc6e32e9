"use strict";
const theme = document.getElementById("theme");
const dark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const show = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-pressed", dark()); };
theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; show(); });
show();
// An input that names a table shows those of its rows that have all of its words.
for (const filter of document.querySelectorAll("input[data-table]")) {
  const rows = [...document.getElementById(filter.dataset.table).tBodies[0].rows];
  const told = document.getElementById(filter.dataset.told);
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    told.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
}
