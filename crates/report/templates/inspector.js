
// Waves and source. The waves of a failure are in the page as changes; a row shows a signal, and
// the source shows values of the cycle of the cursor.
class Inspector {
  constructor(root) {
    this.root = root;
    this.data = JSON.parse(document.getElementById(root.dataset.waves).textContent);
    const rtl = document.getElementById("rtl-text");
    this.files = rtl ? JSON.parse(rtl.textContent) : {};
    this.byName = new Map(this.data.signals.map((signal) => [`${signal.scope}.${signal.name}`, signal]));
    this.scopes = [...new Set(this.data.signals.map((signal) => signal.scope))].filter((scope) => /^dut(\.|$)/.test(scope));
    this.cursor = Math.min(Math.max(this.data.at - this.data.first, 0), this.data.cycles - 1);
    this.zoom = 48;
    this.rows = [];
    this.row = 0;
    this.locals = new Map(this.scopes.map((scope) => [scope, new Map(this.data.signals.filter((signal) => signal.scope === scope).map((signal) => [signal.name, signal]))]));
    this.make();
    const { file, line, text } = this.firstLine();
    if (file) this.open(file, line);
    this.choose(text);
    this.draw();
    this.show();
  }
  make() {
    const button = (textContent, label, act) => {
      const made = element("button", { type: "button", textContent, title: label });
      made.setAttribute("aria-label", label);
      made.addEventListener("click", act);
      return made;
    };
    this.search = element("input", { type: "search", autocomplete: "off", placeholder: "part of a name" });
    this.search.addEventListener("input", () => this.find());
    this.found = element("div", { className: "found" });
    this.found.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: "previousSibling", ArrowUp: "previousSibling", ArrowRight: "nextSibling", ArrowDown: "nextSibling" }[event.key];
      if (!to) return;
      event.preventDefault();
      document.activeElement[to]?.focus();
    });
    this.place = element("output", {});
    const step = (by) => () => this.move(this.cursor + by);
    const scale = (by) => () => { this.zoom = Math.min(Math.max(this.zoom * by, 6), 160); this.draw(); this.show(); };
    this.table = element("div", { className: "rows scroll", tabIndex: -1 });
    this.table.setAttribute("role", "group");
    this.table.setAttribute("aria-label", "Signals. Up and Down select one, with Shift they move it, Delete removes it; Left and Right move the cursor, plus and minus zoom");
    this.table.addEventListener("keydown", (event) => {
      const row = (by) => () => event.shiftKey ? this.put(this.row, by) : this.select(this.row + by);
      const act = { ArrowUp: row(-1), ArrowDown: row(1), Delete: () => this.put(this.row), ArrowLeft: step(-1), ArrowRight: step(1), Home: () => this.move(0), End: () => this.move(this.data.cycles - 1), "+": scale(1.5), "=": scale(1.5), "-": scale(1 / 1.5) }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    const failing = button("Failure", "Cycle of the failure", () => this.move(this.data.at - this.data.first));
    this.root.append(element("div", { className: "tools" }, element("label", {}, "Add a signal", this.search), button("◀", "Previous cycle", step(-1)), this.place,
      button("▶", "Next cycle", step(1)), failing, button("−", "Zoom out", scale(1 / 1.5)), button("+", "Zoom in", scale(1.5))), this.found, this.table);
    if (!Object.keys(this.files).length) return;
    const select = (label, values, act) => {
      const made = element("select", {}, ...values.map((value) => element("option", { value, textContent: value })));
      made.addEventListener("change", () => act(made.value));
      return [made, element("label", {}, label, made)];
    };
    const [file, fileLabel] = select("Source", Object.keys(this.files), (name) => this.open(name));
    const [scope, scopeLabel] = select("Instance", this.scopes, () => this.show());
    Object.assign(this, { file, scope });
    this.source = element("div", { className: "source scroll", tabIndex: 0 });
    this.source.setAttribute("role", "group");
    this.source.setAttribute("aria-label", "Source with values in the cycle of the cursor");
    this.root.append(element("div", { className: "tools" }, fileLabel, scopeLabel), this.source);
  }
  // The driver of the pins whose check failed, or the most suspicious line that the page has.
  firstLine() {
    const found = this.data.outputs.map((name) => this.assigned(name, "dut")).filter((driver) => driver);
    const text = found.map((driver) => driver.text).join("\n");
    const begin = found.length ? { file: found[0].file, line: found[0].lines[0] + 1, text } : { file: Object.keys(this.files)[0], text };
    if (this.data.pins.length) return begin;
    for (const [path, line] of this.data.suspects) {
      const file = Object.keys(this.files).find((name) => name === path || path.endsWith(`/${name}`) || name.endsWith(`/${path.split("/").pop()}`) || name === path.split("/").pop());
      if (file) return { file, line, text: this.files[file].split("\n").slice(line - 1, line + 2).join("\n") };
    }
    return begin;
  }
  words(line) { return [...new Set(line.replace(/\/\/.*/g, "").match(/[A-Za-z_]\w*/g) ?? [])]; }
  // The rows at the beginning: what differs, the pins of the channel, the golden model, and what
  // the lines read.
  choose(text) {
    const items = this.data.signals.filter((signal) => signal.scope === "items").map((signal) => `items.${signal.name}`);
    const names = [...this.data.differ.flatMap((name) => [`golden.${name}`, `dut.${name}`]), ...items, ...this.data.pins.map((name) => `dut.${name}`), "golden.state", "golden.rule"];
    // A parameter has one value.
    const local = this.locals.get(this.scope?.value);
    names.push(...this.words(text).filter((word) => local?.get(word)?.changes.length > 1).map((word) => `${this.scope.value}.${word}`));
    for (const name of names) if (this.rows.length < 24) this.add(this.byName.get(name));
    if (!this.rows.length) this.data.signals.slice(0, 8).forEach((signal) => this.add(signal));
  }
  add(signal, after) {
    if (!signal || this.rows.includes(signal)) return;
    this.rows.splice(after === undefined ? this.rows.length : after + 1, 0, signal);
  }
  find() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const is = (signal) => words.every((word) => `${signal.scope}.${signal.name}`.toLowerCase().includes(word));
    const found = words.length ? this.data.signals.filter(is).slice(0, 30) : [];
    this.found.replaceChildren(...found.map((signal, place) => {
      const made = element("button", { type: "button", textContent: `${signal.scope}.${signal.name}`, tabIndex: place ? -1 : 0 });
      made.addEventListener("click", () => { this.add(signal); this.draw(); this.show(); });
      return made;
    }));
  }
  value(signal, cycle) {
    let low = 0;
    for (let high = signal.changes.length; low < high;) {
      const middle = (low + high) >> 1;
      if (signal.changes[middle][0] <= cycle) low = middle + 1; else high = middle;
    }
    return low ? signal.changes[low - 1][1] : "";
  }
  // The golden model's value beside that of an output of the RTL.
  other(signal) { return signal.scope === "dut" ? this.byName.get(`golden.${signal.name}`) : undefined; }
  // Whether a signal differs from the golden model, or its check fails in the cycle.
  isWrong(signal, cycle) {
    const beside = this.data.differ.includes(signal.name) && this.other(signal);
    return beside ? this.value(signal, cycle) !== this.value(beside, cycle)
      : cycle + this.data.first === this.data.at && signal.name === this.data.wrong && signal.scope !== "golden";
  }
  text(signal, value) { return signal.width > 1 ? `${signal.width}'h${value}` : value; }
  // The row that is the tab stop of the list.
  select(row, focus = true) {
    this.row = Math.min(Math.max(row, 0), this.rows.length - 1);
    const names = all(".row button.name", this.table);
    names.forEach((name, place) => { name.tabIndex = place === this.row ? 0 : -1; });
    if (focus) names[this.row]?.focus();
  }
  // Moves a row; out of the list, if it moves nowhere.
  put(row, by = 0) {
    const [signal] = this.rows.splice(row, 1);
    if (by) this.rows.splice(this.row = Math.max(row + by, 0), 0, signal);
    this.draw();
    this.show();
  }
  draw() {
    // The buttons are for the mouse; the list is one tab stop, and has keys.
    const focus = this.table.contains(document.activeElement);
    const act = (text, label, change) => {
      const made = element("button", { type: "button", textContent: text, title: label, tabIndex: -1 });
      made.addEventListener("click", change);
      return made;
    };
    this.table.replaceChildren(element("div", { className: "row axis" }, element("span", { className: "acts" }), element("span", { className: "name dim", textContent: "cycle" }), element("code"), this.axis()), ...this.rows.map((signal, row) => {
      const name = Object.assign(act(`${signal.scope}.${signal.name}`, "Where it is assigned", () => { this.row = row; this.drivers(signal, row); }), { className: "name" });
      const value = element("code", {});
      const made = element("div", { className: "row" }, element("span", { className: "acts" }, act("↑", "Up", () => this.put(row, -1)), act("↓", "Down", () => this.put(row, 1)), act("×", "Remove", () => this.put(row))), name, value, this.wave(signal));
      made.signal = signal;
      made.value = value;
      return made;
    }));
    this.select(this.row, focus);
  }
  drawing(height, name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const put = (name, attributes, text) => {
      const made = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== undefined) made.textContent = text;
      svg.append(made);
    };
    Object.entries({ width: this.data.cycles * this.zoom, height, "aria-hidden": "true", class: name }).forEach(([key, value]) => svg.setAttribute(key, value));
    svg.addEventListener("click", (event) => this.move(Math.floor((event.clientX - svg.getBoundingClientRect().left) / this.zoom)));
    return { svg, put };
  }
  axis() {
    const { svg, put } = this.drawing(20, "axis");
    const step = Math.ceil(40 / this.zoom);
    for (let cycle = 0; cycle < this.data.cycles; cycle += step) put("text", { x: cycle * this.zoom + 3, y: 14 }, this.data.first + cycle);
    put("line", { class: "cursor", y1: 0, y2: 20 });
    return svg;
  }
  wave(signal) {
    const height = 26;
    const { svg, put } = this.drawing(height, signal.scope === "golden" ? "golden" : "rtl");
    for (let cycle = 0; cycle < this.data.cycles; cycle++) {
      if (this.isWrong(signal, cycle)) put("rect", { class: "wrong", x: cycle * this.zoom, y: 1, width: this.zoom, height: height - 2 });
    }
    let path = "";
    signal.changes.forEach(([cycle, value], place) => {
      const [from, to] = [cycle * this.zoom, (signal.changes[place + 1]?.[0] ?? this.data.cycles) * this.zoom];
      if (signal.width === 1) {
        const y = value === "1" ? 5 : 21;
        path += `${path ? "L" : "M"}${from} ${y}L${to} ${y}`;
      } else {
        if (value) put("rect", { class: "box", x: from, y: 4, width: Math.max(to - from, 1), height: 18, rx: 2 });
        const fits = Math.floor((to - from - 6) / 7.3);
        if (fits > 0) put("text", { x: from + 4, y: 17 }, value.length > fits ? `${value.slice(0, Math.max(fits - 1, 0))}…` : value);
      }
    });
    if (path) put("path", { class: "line", d: path });
    put("line", { class: "cursor", y1: 0, y2: height });
    return svg;
  }
  move(cycle) {
    this.cursor = Math.min(Math.max(cycle, 0), this.data.cycles - 1);
    this.show();
    say(`Cycle ${this.data.first + this.cursor}`);
  }
  // Shows the cycle of the cursor.
  show() {
    this.place.textContent = `cycle ${this.data.first + this.cursor}`;
    const x = (this.cursor + 0.5) * this.zoom;
    for (const row of this.table.children) {
      const line = row.querySelector(".cursor");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      const { signal } = row;
      if (!signal) continue;
      row.value.textContent = this.text(signal, this.value(signal, this.cursor));
      row.value.className = this.isWrong(signal, this.cursor) ? "bad" : "";
    }
    const side = this.table.querySelector("svg").getBoundingClientRect().left - this.table.getBoundingClientRect().left + this.table.scrollLeft;
    if (x < this.table.scrollLeft || side + x > this.table.scrollLeft + this.table.clientWidth) this.table.scrollLeft = x - (this.table.clientWidth - side) / 2;
    if (this.source) this.annotate();
  }
  open(file, line) {
    this.file.value = file;
    const text = this.files[file];
    const words = new Set(this.words(text));
    const shared = (scope) => [...this.locals.get(scope).keys()].filter((name) => words.has(name)).length / (this.locals.get(scope).size + 1);
    this.scope.value = [...this.scopes].sort((one, other) => shared(other) - shared(one))[0];
    const suspicious = new Set(this.data.suspects.filter(([path]) => path.split("/").pop() === file.split("/").pop()).map(([, line]) => line));
    this.lines = text.split("\n").map((line, place) => {
      const values = element("i", { className: "dim" });
      const made = element("span", { className: suspicious.has(place + 1) ? "part" : "" }, element("b", { textContent: `${String(place + 1).padStart(5)} ` }), line, values);
      return { made, values, words: this.words(line) };
    });
    this.source.replaceChildren(element("pre", { className: "rtl" }, ...this.lines.map((line) => line.made)));
    this.annotate();
    this.go(line);
  }
  go(line) { if (line) this.source.scrollTop = Math.max(this.lines[line - 1].made.offsetTop - this.source.clientHeight / 2, 0); }
  annotate() {
    const local = this.locals.get(this.scope.value);
    for (const { values, words } of this.lines ?? []) {
      const known = words.filter((word) => local?.has(word)).map((word) => [word, local.get(word)]);
      values.textContent = known.length ? `  // ${known.map(([word, signal]) => `${word}=${this.text(signal, this.value(signal, this.cursor))}`).join(" ")}` : "";
    }
  }
  // The lines that assign a signal, or connect it to an instance: their file, places and text.
  assigned(signal, scope) {
    const name = signal.replace(/[^\w]/g, "\\$&");
    const local = this.locals.get(scope);
    const share = (file) => this.words(this.files[file]).filter((word) => local?.has(word)).length;
    for (const pattern of [`(^|[^\\w.])${name}\\s*(\\[[^\\]]*\\]\\s*)?(<=|=)(?!=)`, `\\.\\w+\\s*\\(\\s*${name}\\s*\\)`]) {
      const assigns = new RegExp(pattern);
      const files = Object.keys(this.files).filter((file) => this.files[file].split("\n").some((line) => assigns.test(line))).sort((one, other) => share(other) - share(one));
      if (!files.length) continue;
      const all = this.files[files[0]].split("\n");
      const lines = all.flatMap((line, place) => assigns.test(line) ? [place] : []);
      return { file: files[0], lines, text: lines.map((place) => all[place]).join("\n") };
    }
  }
  // Goes to the first line that assigns a signal, and adds the signals of these lines as rows.
  drivers(signal, row) {
    const scope = this.locals.has(signal.scope) ? signal.scope : "dut";
    const found = this.assigned(signal.name, scope);
    if (!found) { say(`No line assigns ${signal.name}`); return; }
    this.open(found.file);
    const local = this.locals.get(scope);
    if (local) this.scope.value = scope;
    let last = row;
    for (const word of this.words(found.text)) {
      const driver = local?.get(word);
      if (driver && !this.rows.includes(driver) && last < row + 8) this.add(driver, last++);
    }
    this.draw();
    this.show();
    this.go(found.lines[0] + 1);
    say(`${found.lines.length} lines assign ${signal.name}`);
  }
}
for (const root of all(".inspector")) {
  const around = root.closest("details");
  const begin = () => { if (around.open && !root.children.length) new Inspector(root); };
  around.addEventListener("toggle", begin);
  begin();
}
