"use strict";
// The page is complete without this script. It adds a theme, copying, search, sorting and details.
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const say = (text) => { document.getElementById("said").textContent = text; };

// Theme.
const theme = document.getElementById("theme");
const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.title = `Switch to ${isDark() ? "light" : "dark"} colours`; };
theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
theme.hidden = false;
showTheme();

// Copying. Pages in local files may have no clipboard.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(element("textarea", { value: text }));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say("Copied");
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  copy(button.dataset.text ?? document.getElementById(button.dataset.copy).textContent);
  button.classList.add("good");
  setTimeout(() => button.classList.remove("good"), 1000);
});
all("button.copy").forEach((button) => { button.hidden = false; });

// On a narrow screen a row is a line; a tap shows all of it. A suspicious line leads to its place in
// the source beside the waves, which is made when it opens.
document.addEventListener("click", ({ target }) => {
  const link = target.closest("a[data-line]");
  if (!target.closest("a, button")) target.closest("tbody tr")?.classList.toggle("whole");
  if (link) setTimeout(() => {
    const [file, source] = ["select", ".source"].map((part) => document.querySelector(`${link.hash} ${part}`));
    if (!source) return;
    file.value = [...file.options].find(({ value }) => value.split("/").pop() === link.dataset.file.split("/").pop())?.value ?? file.value;
    file.dispatchEvent(new Event("change"));
    source.scrollTop = (source.querySelectorAll(".rtl > span")[link.dataset.line - 1]?.offsetTop ?? 0) - 100;
    source.scrollIntoView({ block: "center" });
  }, 100);
});

// The header does not cover the target of a link.
const top_ = document.querySelector(".top");
new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${top_.offsetHeight + 8}px`)).observe(top_);

// The address: `#ANCHOR`, or `#LIST?q=WORDS&Column=VALUE` with the filters of a list.
function address() {
  const [anchor, filters] = location.hash.slice(1).split("?");
  let name = anchor;
  try { name = decodeURIComponent(anchor); } catch { /* It is no name then. */ }
  return { target: document.getElementById(name), filters: filters && new URLSearchParams(filters) };
}

// A link opens the sections around its target.
function openTarget() {
  const { target, filters } = address();
  if (!target) return;
  const list = target.closest("tr[hidden]") && lists.get(target.closest(".list"));
  if (list) list.clear();
  for (let around = target; around; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
  if (filters && target.classList.contains("list")) made(target).filter(filters);
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);

// The section on the screen is marked in the header.
const links = all(".top nav a");
const sections = links.map((link) => document.getElementById(link.hash.slice(1)));
function markSection() {
  const at = sections.findLastIndex((section) => section.getBoundingClientRect().top < top_.offsetHeight + 80);
  links.forEach((link, place) => place === Math.max(at, 0) ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
}
if (links.length) { addEventListener("scroll", markSection, { passive: true }); markSection(); }

// A timing diagram begins at the first wrong cycle.
function showWrong(waves) {
  const name = waves.querySelector(".name");
  const side = getComputedStyle(name).position === "sticky" && innerWidth > 640 ? name.offsetWidth : 0;
  const middle = side + (waves.clientWidth - side) / 2;
  waves.scrollLeft = side + Number(waves.dataset.x) - middle;
}
for (const waves of all(".waves")) {
  showWrong(waves);
  waves.closest("details").addEventListener("toggle", () => showWrong(waves), { once: true });
}

// Lists. A list shows one page of the rows that match the search and the filters. Rows are those
// of the table, or come from data: then `cells` makes a row when it is shown.
const lists = new Map();
class List {
  constructor(root) {
    this.root = root;
    this.table = root.querySelector("table");
    this.body = this.table.tBodies[0];
    this.page = 0;
    this.order = null;
    const source = root.dataset.source;
    this.data = source ? SOURCES[source](JSON.parse(document.getElementById(source).textContent)) : domRows(this.table);
    this.makeTools();
    this.update();
  }
  makeTools() {
    const { columns, hint } = this.data;
    this.search = element("input", { type: "search", autocomplete: "off", placeholder: hint ?? "" });
    this.count = element("span", { className: "dim" });
    this.count.setAttribute("role", "status");
    this.facets = columns.flatMap((column, place) => column.facet ? [this.makeFacet(column, place)] : []);
    const tools = element("div", { className: "tools" }, element("label", {}, "Search", this.search), ...this.facets.map((facet) => facet.label), this.count);
    this.search.addEventListener("input", () => { this.restart(); this.share(); });
    const button = (text, step) => {
      const made = element("button", { type: "button", textContent: text });
      made.addEventListener("click", () => { this.page += step; this.update(); this.root.scrollIntoView(); });
      return made;
    };
    this.previous = button("Previous", -1);
    this.next = button("Next", 1);
    this.place = element("span", { className: "dim" });
    this.pages = element("div", { className: "pages" }, this.previous, this.place, this.next);
    this.root.prepend(tools);
    this.root.append(this.pages);
    all("th", this.table.tHead).forEach((head, place) => {
      if (columns[place].sort === false) return;
      const button = element("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => this.sort(place));
      head.append(button);
    });
  }
  makeFacet({ title, facet, chosen }, place) {
    const values = facet === true ? [...new Set(this.data.rows.map((row) => this.data.columns[place].value(row)))].sort() : facet;
    const select = element("select", {}, element("option", { value: "", textContent: "all" }), ...values.map((value) => element("option", { value, textContent: value })));
    if (chosen && values.includes(chosen)) select.value = chosen;
    const first = select.value;
    select.addEventListener("change", () => { this.restart(); this.share(); });
    return { place, title, first, select, label: element("label", {}, title, select) };
  }
  clear() {
    this.search.value = "";
    this.facets.forEach((facet) => { facet.select.value = ""; });
    this.restart();
  }
  // Puts the filters into the address, so that the view can be sent and opened again.
  share() {
    const filters = new URLSearchParams();
    if (this.search.value) filters.set("q", this.search.value);
    for (const { title, select, first } of this.facets) if (select.value !== first) filters.set(title, select.value);
    history.replaceState(null, "", `#${this.root.id}${filters.size ? `?${filters}` : ""}`);
  }
  filter(filters) {
    this.search.value = filters.get("q") ?? "";
    for (const { title, select, first } of this.facets) {
      const value = filters.get(title) ?? first;
      if ([...select.options].some((option) => option.value === value)) select.value = value;
    }
    this.restart();
  }
  restart() {
    this.page = 0;
    this.update();
  }
  sort(place) {
    const down = this.order?.place === place && !this.order.down;
    this.order = { place, down };
    all("th", this.table.tHead).forEach((head, other) => other === place
      ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    this.restart();
  }
  matching() {
    const { rows, columns, text } = this.data;
    const words = this.search.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const facets = this.facets.filter((facet) => facet.select.value);
    const is = (row) => facets.every(({ place, select }) => String(columns[place].value(row)) === select.value)
      && words.every((word) => text(row).includes(word));
    const found = words.length || facets.length ? rows.filter(is) : rows;
    if (!this.order) return found;
    const { value } = columns[this.order.place];
    const sign = this.order.down ? -1 : 1;
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return [...found].sort((a, b) => sign * compare(value(a), value(b)));
  }
  update() {
    const found = this.matching();
    const first = this.page * this.data.size;
    const shown = found.slice(first, first + this.data.size);
    this.data.show(this.body, shown);
    this.count.textContent = `${found.length} of ${this.data.rows.length}`;
    this.pages.hidden = found.length <= this.data.size;
    this.previous.disabled = this.page === 0;
    this.next.disabled = first + this.data.size >= found.length;
    this.place.textContent = `${first + 1} to ${first + shown.length} of ${found.length}`;
  }
}

// The rows of a table. Cells that are numbers are sorted as such.
function domRows(table) {
  const rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const column = (head, place) => ({
    title: head.textContent,
    facet: "facet" in head.dataset,
    chosen: head.dataset.facet,
    value: (row) => {
      const cell = row.cells[place].textContent.trim();
      return cell !== "" && !isNaN(cell) ? Number(cell) : cell;
    },
  });
  return {
    rows,
    size: 100,
    columns: all("th", table.tHead).map(column),
    text: (row) => texts.get(row),
    // Hidden rows stay in the page, so that links reach them.
    show: (body, shown) => {
      const visible = new Set(shown);
      rows.forEach((row) => { row.hidden = !visible.has(row); });
      body.prepend(...shown);
    },
  };
}
const showCells = (cells) => (body, shown) => body.replaceChildren(...shown.map((row) => element("tr", {}, ...cells(row))));
const cell = (text, className = "") => element("td", { className, textContent: text });
const link = (text, anchor) => element("a", { href: `#${anchor}`, textContent: text });

const SOURCES = {
  // A row is the position of a case among all of them.
  "cases-data": ({ block, profiles, scenarios, step, signatures, commands, rows }) => {
    const places = [], cycles = [], packets = [], groups = [];
    for (const [from, itsCycles, itsPackets, itsGroups] of rows) {
      itsCycles.forEach((count, index) => {
        places.push(from + index * step);
        cycles.push(count);
        packets.push(itsPackets[index]);
        groups.push(itsGroups ? itsGroups[index] : -1);
      });
    }
    const columns = profiles.length * scenarios.length;
    const scenario = (row) => places[row] % scenarios.length;
    const profile = (row) => Math.floor(places[row] % columns / scenarios.length);
    const name = (row) => `${block}/${profiles[profile(row)]}/${scenarios[scenario(row)]}/${Math.floor(places[row] / columns)}`;
    const verdict = (row) => groups[row] < 0 ? "match" : (signatures[groups[row]] ?? ["failed"])[0];
    const command = (row) => { const [placeholder, text] = commands[scenario(row)]; return text.replace(placeholder, name(row)); };
    const cells = (row) => {
      const [, failure] = groups[row] < 0 ? [] : signatures[groups[row]] ?? [];
      const shown = failure ? link(verdict(row), `failure-${failure}`) : verdict(row);
      const button = element("button", { type: "button", className: "copy", textContent: "Copy", ariaLabel: `Copy the command of ${name(row)}` });
      button.dataset.text = command(row);
      const head = element("th", { scope: "row" }, element("code", { textContent: name(row) }));
      return [head, cell(profiles[profile(row)]), cell(scenarios[scenario(row)]), element("td", { className: groups[row] < 0 ? "good" : "bad" }, shown),
        cell(cycles[row], "n"), cell(packets[row], "n"), element("td", {}, button)];
    };
    return {
      rows: places.map((_, row) => row),
      size: 25,
      hint: "name, verdict",
      columns: [
        { title: "Case", value: (row) => places[row] },
        { title: "Profile", facet: profiles, value: (row) => profiles[profile(row)] },
        { title: "Scenario", facet: scenarios, value: (row) => scenarios[scenario(row)] },
        { title: "Verdict", facet: ["match", ...new Set(signatures.map(([verdict]) => verdict))], value: verdict },
        { title: "Cycles", value: (row) => cycles[row] },
        { title: "Packets", value: (row) => packets[row] },
        { title: "Command", sort: false },
      ],
      text: (row) => `${name(row)} ${verdict(row)}`.toLowerCase(),
      show: showCells(cells),
    };
  },
  // A row is [profile, group, bin in the group, bin].
  "bins-data": ({ groups, profiles, links }) => {
    const sizes = groups.map(([, axes]) => axes.reduce((size, [, values]) => size * values.length, 1));
    const rows = profiles.flatMap((_, profile) => {
      let bin = 0;
      return sizes.flatMap((size, group) => Array.from({ length: size }, (_, index) => [profile, group, index, bin++]));
    });
    const names = new Map();
    const name = ([, group, index]) => {
      const key = `${group} ${index}`;
      if (!names.has(key)) {
        const parts = [];
        let left = index;
        for (const [, values] of [...groups[group][1]].reverse()) {
          parts.unshift(values[left % values.length]);
          left = Math.floor(left / values.length);
        }
        names.set(key, parts.join(", "));
      }
      return names.get(key);
    };
    const hits = ([profile, , , bin]) => profiles[profile][1][bin];
    const reason = ([profile, , , bin]) => profiles[profile][2][bin];
    const status = (row) => reason(row) !== undefined ? "unreachable" : hits(row) ? "hit" : "uncovered";
    const anchor = ([, group, index]) => links[group].length === 1 ? links[group][0] : links[group][index];
    const cells = (row) => {
      const target = anchor(row);
      const is = status(row);
      return [element("th", { scope: "row", textContent: groups[row[1]][0] }), element("td", {}, target ? link(name(row), target) : name(row)), cell(profiles[row[0]][0]), cell(hits(row), "n"),
        cell(is === "unreachable" ? `unreachable: ${reason(row)}` : is, { hit: "good", uncovered: "miss", unreachable: "cannot" }[is])];
    };
    return {
      rows,
      size: 25,
      hint: "group, bin, reason",
      columns: [
        { title: "Group", facet: groups.map(([group]) => group), value: ([, group]) => groups[group][0] },
        { title: "Bin", value: name },
        { title: "Profile", facet: profiles.map(([profile]) => profile), value: ([profile]) => profiles[profile][0] },
        { title: "Cases", value: hits },
        { title: "Status", facet: ["uncovered", "hit", "unreachable"], chosen: "uncovered", value: status },
      ],
      text: (row) => `${groups[row[1]][0]} ${name(row)} ${status(row)} ${reason(row) ?? ""}`.toLowerCase(),
      show: showCells(cells),
    };
  },
};

// A list in a closed section is made when the section opens.
function made(root) {
  if (!lists.has(root)) lists.set(root, new List(root));
  return lists.get(root);
}
for (const root of all(".list")) {
  const make = () => made(root);
  const closed = root.closest("details:not([open])");
  if (closed) closed.addEventListener("toggle", make, { once: true }); else make();
}

// The state diagram: hits of one profile or of all, and the rules of a selected transition.
for (const diagram of all(".states")) {
  const arrows = all("a.arrow", diagram);
  const labels = all("g.label", diagram);
  const profiles = diagram.dataset.profiles.split("|");
  const select = element("select", {}, ...["all profiles", ...profiles].map((name, value) => element("option", { value, textContent: name })));
  select.addEventListener("change", () => arrows.forEach((arrow, place) => {
    const heat = arrow.dataset.heats.split(" ")[select.value];
    arrow.setAttribute("class", `arrow ${heat}${arrow.classList.contains("chosen") ? " chosen" : ""}`);
    labels[place].setAttribute("class", `label ${heat}`);
    labels[place].querySelector(".hits").textContent = arrow.dataset.hits.split("|")[select.value];
  }));
  const panel = diagram.querySelector(".transition");
  const heads = all("#rules-list thead th").map((head) => head.textContent);
  function choose(event) {
    event.preventDefault();
    const arrow = event.currentTarget;
    arrows.forEach((other) => other.classList.toggle("chosen", other === arrow));
    const rows = arrow.dataset.rules.split(" ").map((rule) => {
      const copied = document.getElementById(`rule-${rule}`).cloneNode(true);
      copied.removeAttribute("id");
      copied.hidden = false;
      return copied;
    });
    const table = element("table", {}, element("caption", { textContent: `${arrow.dataset.from} to ${arrow.dataset.to}` }),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", textContent: head })))), element("tbody", {}, ...rows));
    panel.replaceChildren(element("div", { className: "scroll" }, table));
  }
  arrows.forEach((arrow) => arrow.addEventListener("click", choose));
  if (profiles.length > 1) diagram.prepend(element("div", { className: "tools" }, element("label", {}, "Hits of", select)));
}

// Keys: `/` searches, `j` and `k` go to the next and the previous failure or section.
const KEYS = [["/", "Search in the list on the screen"], ["j", "Next failure or section"], ["k", "Previous failure or section"], ["?", "Show these keys"], ["Esc", "Close"]];
const closer = element("button", { type: "button", textContent: "Close" });
const keys = element("dialog", { ariaLabel: "Keys" }, element("table", {}, element("caption", { textContent: "Keys" }),
  element("tbody", {}, ...KEYS.map(([key, what]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", { textContent: key })), element("td", { textContent: what }))))), closer);
closer.addEventListener("click", () => keys.close());
document.body.append(keys);
const visible = (one) => one.getClientRects().length > 0;
function step(by) {
  const stops = all("details.failure > summary, details.section > summary, section > h2").filter(visible);
  const at = stops.indexOf(document.activeElement);
  const below = stops.findIndex((stop) => stop.getBoundingClientRect().top > top_.offsetHeight + 12);
  const next = at >= 0 ? at + by : by > 0 ? below : (below < 0 ? stops.length : below) - 1;
  const stop = stops[Math.min(Math.max(next, 0), stops.length - 1)];
  if (!stop) return;
  if (stop.tagName !== "SUMMARY") stop.tabIndex = -1;
  stop.focus({ preventScroll: true });
  stop.scrollIntoView();
}
function search() {
  const boxes = [...lists.values()].map((list) => list.search).filter(visible);
  const box = boxes.find((box) => box.getBoundingClientRect().bottom > top_.offsetHeight) ?? boxes[0];
  box?.focus();
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open || event.target.closest?.("input, select, textarea")) return;
  const act = { "/": search, j: () => step(1), k: () => step(-1), "?": () => keys.showModal() }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

if (location.hash) openTarget();
