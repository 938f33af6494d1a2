"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const ROW = 28, SPARE = 12, MOST_BOXES = 400;
  const WORDS = { create: "create", update: "change", replace: "replace", delete: "destroy", read: "read", import: "import", move: "move", forget: "forget" };
  const SIGNS = { create: "+", update: "~", replace: "-/+", delete: "-", read: "<=", import: "&", move: ">", forget: "." };
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  // what is shown of the plan
  const shown = new Set(Object.keys(WORDS));
  const closed = new Set();
  let text = "", block = null, chosen = null, view = "change";
  let rows = [];

  const counts = {};
  for (const change of plan.changes) counts[change.k] = (counts[change.k] || 0) + 1;

  // the frame
  const facts = [plan.mode === "normal" ? "plan" : plan.mode + " plan", "made " + plan.made, "Formwork " + plan.by];
  if (plan.cloud) facts.push("mock cloud " + plan.cloud);
  const search = make("input", { type: "search", placeholder: "Find an address", "aria-label": "Find an address", oninput: () => { text = search.value.trim().toLowerCase(); refresh(); } });
  const chips = Object.keys(WORDS).filter((k) => counts[k]).map((k) => {
    const chip = make("button", { class: k, "aria-pressed": "true", onclick: () => {
      shown.has(k) ? shown.delete(k) : shown.add(k);
      chip.setAttribute("aria-pressed", String(shown.has(k)));
      refresh();
    } }, make("span", { class: "dot" }), `${counts[k].toLocaleString("en")} ${WORDS[k]}`);
    return chip;
  });
  const picture = make("button", { onclick: () => { view = "picture"; detail(); } }, "What needs what");
  const only = make("button", { hidden: "", onclick: () => { block = null; refresh(); } });
  const list = make("div", { id: "list", tabindex: "-1" });
  const body = make("div", { id: "rows", role: "list" });
  const side = make("div", { id: "detail" });
  list.append(body);
  const header = make("header", {},
    make("h1", {}, plan.title), make("span", { class: "facts" }, facts.join(" \u00b7 ")),
    make("div", { class: "line" }, plan.line));
  if (plan.errored) header.append(make("div", { class: "warn" }, "Planning failed: this is what had been planned until then, and it cannot be applied."));
  else if (!plan.complete) header.append(make("div", { class: "warn" }, "The plan is not complete: parts of the configuration are left out or deferred."));
  header.append(make("div", { class: "bar" }, search, ...chips, only, ...(plan.graph ? [picture] : [])));
  document.getElementById("page").append(header, make("main", {}, list, side));

  // the rows: a module, then its changes
  const modules = new Map();
  for (const change of plan.changes) {
    if (!modules.has(change.m)) modules.set(change.m, []);
    modules.get(change.m).push(change);
  }
  const takes = (change) => shown.has(change.k) && (!block || change.r === block) && (!text || change.a.toLowerCase().includes(text));
  function refresh() {
    rows = [];
    for (const [module, changes] of modules) {
      const taken = changes.filter(takes);
      if (!taken.length) continue;
      rows.push({ module, n: taken.length });
      if (!closed.has(module)) for (const change of taken) rows.push({ change });
    }
    only.hidden = !block;
    only.textContent = block ? `only ${block} \u00d7` : "";
    body.style.height = rows.length * ROW + "px";
    draw(true);
  }

  // elements are made for what is in view only
  let from = -1, to = -1;
  function draw(anew) {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
    const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
    if (!anew && first === from && last === to) return;
    from = first; to = last;
    const made = [];
    for (let i = first; i < last; i++) made.push(row(rows[i], i));
    body.replaceChildren(...made);
    if (!rows.length) body.append(make("div", { class: "empty" }, plan.changes.length ? "Nothing fits the filters." : "No object changes."));
  }
  function row(entry, i) {
    const open = () => {
      if (entry.change) { chosen = entry.change; view = "change"; detail(); draw(true); }
      else { closed.has(entry.module) ? closed.delete(entry.module) : closed.add(entry.module); refresh(); }
    };
    const key = (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) { event.preventDefault(); go(i + step); }
    };
    const style = `top:${i * ROW}px`;
    if (!entry.change) {
      const mark = closed.has(entry.module) ? "\u25b8" : "\u25be";
      return make("div", { class: "row module", role: "listitem", tabindex: "0", style, "data-i": i, onclick: open, onkeydown: key },
        `${mark} ${entry.module || "root module"}`, make("span", { class: "n" }, entry.n.toLocaleString("en")));
    }
    const { a, m, k } = entry.change;
    const name = m && a.startsWith(m + ".") ? a.slice(m.length + 1) : a;
    return make("div", { class: `row ${k}${entry.change === chosen ? " on" : ""}`, role: "listitem", tabindex: "0", style, "data-i": i, title: a, onclick: open, onkeydown: key },
      make("span", { class: "sign" }, SIGNS[k]), make("span", { class: "name" }, name));
  }
  function go(i) {
    if (i < 0 || i >= rows.length) return;
    const top = i * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    draw(false);
    const element = body.querySelector(`[data-i="${i}"]`);
    if (element) element.focus();
  }

  // the difference, a line at a time
  function difference(lines) {
    const pre = make("pre");
    for (const line of lines.split("\n")) {
      const sign = line.trimStart().slice(0, 3);
      let look = "";
      if (line.trimStart().startsWith("# ")) look = "why";
      else if (/^\s*(\+|\+\/-|-\/\+) /.test(line)) look = sign.startsWith("+ ") ? "add" : "chg";
      else if (/^\s*~ /.test(line)) look = "chg";
      else if (/^\s*- /.test(line)) look = "del";
      if (line.includes("# forces replacement")) look += " force";
      pre.append(make("span", { class: look }, line || " "));
    }
    return pre;
  }
  function detail() {
    side.scrollTop = 0;
    if (view === "picture") { side.replaceChildren(make("h2", {}, "What needs what: an arrow leads from what waits to what it waits for"), draws()); return; }
    const parts = [];
    if (chosen) parts.push(difference(chosen.d));
    else {
      if (plan.drift) parts.push(make("h2", {}, "Changed outside"), difference(plan.drift));
      if (plan.outputs) parts.push(make("h2", {}, "Outputs"), difference(plan.outputs));
      parts.push(make("div", { class: "empty" }, plan.changes.length ? "Choose a change on the left to see its difference." : plan.line));
    }
    side.replaceChildren(...parts);
  }

  // the picture: columns by how much must come before, from left (last) to right (first)
  function draws() {
    const { blocks, arrows } = plan.graph;
    let kept = blocks.map((_, i) => i);
    let note = "";
    if (kept.length > MOST_BOXES) {
      kept = kept.filter((i) => blocks[i].n);
      note = `Of ${blocks.length.toLocaleString("en")} blocks only those that change are drawn`;
      if (kept.length > MOST_BOXES) { note += `, and of ${kept.length.toLocaleString("en")} of them the first ${MOST_BOXES}`; kept = kept.slice(0, MOST_BOXES); }
      note += ".";
    }
    const place = new Map(kept.map((i, n) => [i, n]));
    const needs = kept.map(() => []);
    const waits = kept.map(() => []);
    for (const [a, b] of arrows) if (place.has(a) && place.has(b)) { needs[place.get(a)].push(place.get(b)); waits[place.get(b)].push(place.get(a)); }
    const depth = kept.map(() => 0);
    const left = needs.map((n) => n.length);
    const ready = [];
    left.forEach((n, i) => { if (!n) ready.push(i); });
    while (ready.length) {
      const i = ready.shift();
      for (const w of waits[i]) {
        depth[w] = Math.max(depth[w], depth[i] + 1);
        if (--left[w] === 0) ready.push(w);
      }
    }
    const columns = [];
    depth.forEach((d, i) => (columns[d] = columns[d] || []).push(i));
    const W = 250, H = 38, GX = 60, GY = 12, deepest = Math.max(0, columns.length - 1);
    const at = [];
    columns.forEach((column, d) => column.forEach((i, n) => (at[i] = [(deepest - d) * (W + GX) + 8, n * (H + GY) + 8])));
    const tall = Math.max(1, ...columns.map((c) => c.length)) * (H + GY) + 16;
    const wide = columns.length * (W + GX) + 16;
    const NS = "http:" + "//www.w3.org/2000/svg";
    const svg = (name, attributes, ...children) => {
      const element = document.createElementNS(NS, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.append(...children);
      return element;
    };
    const root = svg("svg", { width: wide, height: tall, viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": "What needs what" });
    needs.forEach((all, i) => all.forEach((j) => {
      const [x1, y1] = [at[i][0] + W, at[i][1] + H / 2], [x2, y2] = [at[j][0], at[j][1] + H / 2], bend = GX / 2;
      root.append(svg("path", { d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}` }));
    }));
    kept.forEach((i, n) => {
      const { r, n: all } = blocks[i];
      const kinds = Object.keys(all || {}).sort((a, b) => all[b] - all[a]);
      const label = r.length > 36 ? "\u2026" + r.slice(-35) : r;
      const group = svg("g", { class: `node ${kinds.length ? "changed " + kinds[0] : ""}`, transform: `translate(${at[n]})` },
        svg("title", {}, r), svg("rect", { width: W, height: H, rx: 6 }),
        svg("text", { x: 10, y: kinds.length ? 16 : 23 }, label));
      if (kinds.length) group.append(svg("text", { x: 10, y: 30, class: "n" }, kinds.map((k) => `${all[k].toLocaleString("en")} ${WORDS[k]}`).join(", ")));
      group.addEventListener("click", () => { block = r; refresh(); });
      root.append(group);
    });
    const box = make("div");
    if (note) box.append(make("div", { class: "empty" }, note));
    if (!kept.length) box.append(make("div", { class: "empty" }, "There is nothing to draw."));
    box.append(root);
    return box;
  }

  list.addEventListener("scroll", () => draw(false), { passive: true });
  window.addEventListener("resize", () => draw(false));
  // #picture opens the picture, #ADDRESS a change
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (wanted === "picture" && plan.graph) view = "picture";
  else chosen = plan.changes.find((c) => c.a === wanted) || null;
  refresh();
  detail();
})();
