
// Waves and source. The waves of a failure are in the page as changes; a row shows a signal, and
// the source shows values of the cycle of the cursor.
class Inspector {
  constructor(root) {
    this.root = root;
    this.data = JSON.parse(document.getElementById(root.dataset.waves).textContent);
    const rtl = document.getElementById("rtl-text");
    this.files = rtl ? JSON.parse(rtl.textContent) : {};
    this.byName = new Map(this.data.signals.map((signal) => [`${signal.scope}.${signal.name}`, signal]));
    this.scopes = [...new Set(this.data.signals.map((signal) => signal.scope))].filter((scope) => scope !== "golden");
    this.cursor = Math.min(Math.max(this.data.at - this.data.first, 0), this.data.cycles - 1);
    this.zoom = 48;
    this.rows = [];
    this.locals = new Map(this.scopes.map((scope) => [scope, new Map(this.data.signals.filter((signal) => signal.scope === scope).map((signal) => [signal.name, signal]))]));
    this.make();
    const { file, line } = this.firstLine();
    if (file) this.open(file, line);
    this.choose(line);
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
    this.place = element("output", {});
    const step = (by) => () => this.move(this.cursor + by);
    const scale = (by) => () => { this.zoom = Math.min(Math.max(this.zoom * by, 6), 160); this.draw(); this.show(); };
    this.table = element("div", { className: "rows scroll", tabIndex: 0 });
    this.table.setAttribute("role", "group");
    this.table.setAttribute("aria-label", "Signals. Arrow keys move the cursor, plus and minus zoom");
    this.table.addEventListener("keydown", (event) => {
      const act = { ArrowLeft: step(-1), ArrowRight: step(1), Home: () => this.move(0), End: () => this.move(this.data.cycles - 1), "+": scale(1.5), "=": scale(1.5), "-": scale(1 / 1.5) }[event.key];
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
  // The most suspicious line, in a file that the page has.
  firstLine() {
    for (const [path, line] of this.data.suspects) {
      const file = Object.keys(this.files).find((name) => name === path || path.endsWith(`/${name}`) || name.endsWith(`/${path.split("/").pop()}`) || name === path.split("/").pop());
      if (file) return { file, line };
    }
    return { file: Object.keys(this.files)[0] };
  }
  words(line) { return [...new Set(line.replace(/\/\/.*/, "").match(/[A-Za-z_]\w*/g) ?? [])]; }
  // The rows at the beginning: what differs, the golden model, and the signals of the line.
  choose(line) {
    const names = this.data.differ.flatMap((name) => [`golden.${name}`, `dut.${name}`]);
    names.push("golden.state", "golden.rule");
    const local = this.locals.get(this.scope?.value);
    if (local && line) {
      const text = this.files[this.file.value].split("\n").slice(line - 1, line + 2).join("\n");
      names.push(...this.words(text).filter((word) => local.has(word)).map((word) => `${this.scope.value}.${word}`));
    }
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
    this.found.replaceChildren(...found.map((signal) => {
      const made = element("button", { type: "button", textContent: `${signal.scope}.${signal.name}` });
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
  text(signal, value) { return signal.width > 1 ? `${signal.width}'h${value}` : value; }
  draw() {
    const act = (row, text, label, change) => {
      const made = element("button", { type: "button", textContent: text, title: label });
      made.setAttribute("aria-label", `${label}: ${this.rows[row].name}`);
      made.addEventListener("click", () => { change(); this.draw(); this.show(); });
      return made;
    };
    const swap = (row, other) => () => { if (this.rows[other]) [this.rows[row], this.rows[other]] = [this.rows[other], this.rows[row]]; };
    this.table.replaceChildren(element("div", { className: "row axis" }, element("span", { className: "acts" }), element("span", { className: "name dim", textContent: "cycle" }), element("code"), this.axis()), ...this.rows.map((signal, row) => {
      const name = element("button", { type: "button", className: "name", textContent: `${signal.scope}.${signal.name}`, title: "Where it is assigned" });
      name.addEventListener("click", () => this.drivers(signal, row));
      const value = element("code", {});
      const made = element("div", { className: "row" }, element("span", { className: "acts" }, act(row, "↑", "Up", swap(row, row - 1)), act(row, "↓", "Down", swap(row, row + 1)), act(row, "×", "Remove", () => this.rows.splice(row, 1))), name, value, this.wave(signal));
      made.signal = signal;
      made.value = value;
      return made;
    }));
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
    const beside = this.other(signal);
    if (beside) {
      for (let cycle = 0; cycle < this.data.cycles; cycle++) {
        if (this.data.differ.includes(signal.name) && this.value(signal, cycle) !== this.value(beside, cycle)) put("rect", { class: "wrong", x: cycle * this.zoom, y: 1, width: this.zoom, height: height - 2 });
      }
    }
    let path = "";
    signal.changes.forEach(([cycle, value], place) => {
      const [from, to] = [cycle * this.zoom, (signal.changes[place + 1]?.[0] ?? this.data.cycles) * this.zoom];
      if (signal.width === 1) {
        const y = value === "1" ? 5 : 21;
        path += `${path ? "L" : "M"}${from} ${y}L${to} ${y}`;
      } else {
        put("rect", { class: "box", x: from, y: 4, width: Math.max(to - from, 1), height: 18, rx: 2 });
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
      const value = this.value(signal, this.cursor);
      const beside = this.other(signal);
      const expected = beside && this.data.differ.includes(signal.name) ? this.value(beside, this.cursor) : value;
      row.value.textContent = this.text(signal, value);
      row.value.className = expected === value ? "" : "bad";
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
  // Goes to the first line that assigns a signal, and adds the signals of these lines as rows.
  drivers(signal, row) {
    const scope = signal.scope === "golden" ? "dut" : signal.scope;
    const name = signal.name.replace(/[^\w]/g, "\\$&");
    const assigns = new RegExp(`(^|[^\\w.])${name}\\s*(\\[[^\\]]*\\]\\s*)?(<=|=)(?!=)`);
    const local = this.locals.get(scope);
    const share = (name) => this.words(this.files[name]).filter((word) => local?.has(word)).length;
    const files = Object.keys(this.files).filter((name) => this.files[name].split("\n").some((line) => assigns.test(line))).sort((one, other) => share(other) - share(one));
    if (!files.length) { say(`No line assigns ${signal.name}`); return; }
    this.open(files[0]);
    if (local) this.scope.value = scope;
    const lines = this.files[files[0]].split("\n");
    const at = lines.flatMap((line, place) => assigns.test(line) ? [place] : []);
    let last = row;
    for (const word of at.flatMap((place) => this.words(lines[place]))) {
      const driver = local?.get(word);
      if (driver && !this.rows.includes(driver) && last < row + 8) this.add(driver, last++);
    }
    this.draw();
    this.show();
    this.go(at[0] + 1);
    say(`${at.length} lines assign ${signal.name}`);
  }
}
for (const root of all(".inspector")) {
  const around = root.closest("details");
  const begin = () => { if (around.open && !root.children.length) new Inspector(root); };
  around.addEventListener("toggle", begin);
  begin();
}
