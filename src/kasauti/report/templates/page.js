/* The sample list and its keys.

   Data comes from the JSON element `data` (made by samples.py):
   items: {p: prompt, s: system, t: takes}; take: {r: repeat, u: sound, d: seconds, x: error, cut, gone, n: outline of
   the sound, q: rows};
   row: {j: judge, k: rejudge, s: status, w: badness, e: reason, h: transcript, f: pieces, c: [edits, characters],
   v: [edits, words], m: [[mark, value, label, note]], a: [[word, start, end, what is odd]]}.
   Text goes into the page as text nodes only. One page of items is in the document at a time, one audio element plays. */
"use strict";
(() => {
  const PAGE = 25;
  const SEEK_S = 2;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const sounds = $("sounds") ? JSON.parse($("sounds").textContent) : null;
  const sound = $("sound");
  const OK = data.statuses.indexOf("ok");

  let found = []; // indices of items that pass the filters, in order
  let page = 0;
  let clips = []; // the takes shown: {item, take, node, play, range, time}
  let active = -1; // index in clips
  let waiting = 0; // timer of the search field
  let playing = null; // key of the take that the audio element holds

  // Small helpers.
  function el(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "class") node.className = value;
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function icon(name) {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    const use = document.createElementNS(ns, "use");
    use.setAttribute("href", "#i-" + name);
    svg.setAttribute("aria-hidden", "true");
    svg.append(use);
    return svg;
  }

  const clock = (s) => (s >= 60 ? Math.floor(s / 60) + ":" + String(Math.floor(s % 60)).padStart(2, "0") : s.toFixed(1) + " s");
  const percent = (edits, of) => ((100 * edits) / Math.max(1, of)).toFixed(1) + " %";
  const spaced = (word) => word.replaceAll("_", " ");
  const folded = (text) => text.normalize("NFC").toLowerCase();
  const number = (n) => n.toLocaleString("en");
  const promptOf = (item) => data.prompts[item.p];
  const keyOf = (item, take) => item.p + "/" + item.s + "/" + take.r;

  // Filters.
  const picks = { system: $("f-system"), language: $("f-language"), judge: $("f-judge"), status: $("f-status"), tag: $("f-tag") };

  function fillPicks() {
    const present = new Set(data.items.flatMap((item) => item.t.flatMap((take) => take.q.map((row) => row.s))));
    const tags = [...new Set(data.prompts.flatMap((prompt) => prompt.tags))].sort();
    const options = {
      system: data.systems.map((name, place) => [place, name]),
      language: Object.entries(data.languages).map(([code, name]) => [code, name === code ? code : name + " (" + code + ")"]),
      judge: data.judges.map((name, place) => [place, name]),
      status: data.statuses.map((name, place) => [place, spaced(name)]).filter(([place]) => present.has(place)),
      tag: tags.map((tag) => [tag, spaced(tag)]),
    };
    for (const [name, select] of Object.entries(picks)) {
      select.append(el("option", { value: "" }, "all"));
      for (const [value, label] of options[name]) select.append(el("option", { value: String(value) }, label));
      select.closest("label").hidden = options[name].length < 2;
    }
  }

  const hay = new Array(data.items.length);
  function hayOf(place) {
    if (hay[place] === undefined) {
      const item = data.items[place];
      const prompt = promptOf(item);
      const heard = item.t.flatMap((take) => take.q.map((row) => row.h || ""));
      hay[place] = folded([prompt.id, prompt.text, ...prompt.tags, data.systems[item.s], ...heard].join("\n"));
    }
    return hay[place];
  }

  // Rows of a take that the judge's filter lets through.
  const rowsOf = (take) => (picks.judge.value === "" ? take.q : take.q.filter((row) => String(row.j) === picks.judge.value));

  function passes(item, place, words) {
    const prompt = promptOf(item);
    if (picks.system.value !== "" && String(item.s) !== picks.system.value) return false;
    if (picks.language.value !== "" && prompt.lang !== picks.language.value) return false;
    if (picks.tag.value !== "" && !prompt.tags.includes(picks.tag.value)) return false;
    const rows = item.t.flatMap(rowsOf);
    if (rows.length === 0) return false;
    if (picks.status.value !== "" && !rows.some((row) => String(row.s) === picks.status.value)) return false;
    return words.every((word) => hayOf(place).includes(word));
  }

  const badness = (item) => Math.max(...item.t.flatMap(rowsOf).map((row) => row.w));

  function apply() {
    const words = folded($("f-text").value).split(/\s+/).filter(Boolean);
    found = [];
    data.items.forEach((item, place) => {
      if (passes(item, place, words)) found.push(place);
    });
    const order = $("f-order").value;
    if (order !== "prompt") {
      const bad = new Map(found.map((place) => [place, badness(data.items[place])]));
      // What has nothing to hear comes last, whichever end comes first.
      const rank = (place) => (bad.get(place) < 0 ? Infinity : order === "worst" ? -bad.get(place) : bad.get(place));
      found.sort((a, b) => rank(a) - rank(b) || a - b);
    }
    show(0);
  }

  function reset() {
    $("filters").reset();
    apply();
    $("f-text").focus();
  }

  // Drawing.
  function show(wanted) {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(Math.max(0, wanted), pages - 1);
    clips = [];
    active = -1;
    const shown = found.slice(page * PAGE, (page + 1) * PAGE);
    $("list").replaceChildren(...shown.map((place) => drawItem(data.items[place])));
    $("list").start = page * PAGE + 1;
    if (found.length === 0) {
      const button = el("button", { type: "button" }, "Clear the filters");
      button.addEventListener("click", reset);
      $("list").append(el("li", { class: "empty" }, "No sample matches. ", button));
    }
    const all = data.items.length;
    $("found").textContent = found.length === all ? number(all) + " samples" : number(found.length) + " of " + number(all) + " samples";
    $("place").textContent = "page " + number(page + 1) + " of " + number(pages);
    $("previous").disabled = page === 0;
    $("next").disabled = page === pages - 1;
    document.querySelector(".pager").hidden = pages === 1;
    if (clips.length) activate(0, { focus: false });
    drawPlaying();
  }

  function textNode(name, attributes, prompt, ...children) {
    return el(name, { lang: prompt.lang, dir: prompt.rtl ? "rtl" : "auto", ...attributes }, ...children);
  }

  function drawItem(item) {
    const prompt = promptOf(item);
    const head = el(
      "header",
      {},
      el("b", { class: "system" }, data.systems[item.s]),
      el("span", { class: "lang" }, data.languages[prompt.lang] || prompt.lang),
      el("code", { class: "id" }, prompt.id),
      ...prompt.tags.map((tag) => el("span", { class: "tag" }, spaced(tag))),
    );
    const body = el("article", {}, head, textNode("p", { class: "text" }, prompt, prompt.text));
    if (prompt.control) {
      const asked = Object.entries(prompt.control).map(([key, value]) => key + ": " + value).join(" · ");
      body.append(el("p", { class: "control" }, "asked for: " + asked));
    }
    for (const take of item.t) body.append(drawTake(item, take, prompt));
    return el("li", {}, body);
  }

  function drawTake(item, take, prompt) {
    const place = clips.length;
    const name = item.t.length > 1 ? "take " + (take.r + 1) : "";
    const spoken = [data.systems[item.s], prompt.id, name].filter(Boolean).join(", ");
    const node = el("div", { class: "take", tabindex: "-1", role: "group", "aria-label": spoken });
    const clip = { item, take, node, spoken };
    const rows = rowsOf(take);
    const bar = el("div", { class: "player" });
    if (name) bar.append(el("span", { class: "name" }, name));
    if (take.u !== undefined) Object.assign(clip, drawPlayer(bar, take, spoken, place));
    if (take.cut) bar.append(el("span", { class: "warn", title: "the file is cut: it holds less sound than its header promises" }, "cut off"));
    if (take.gone) bar.append(el("span", { class: "warn" }, "the audio file is gone from the store"));
    if (rows.length === 1) bar.append(drawFacts(rows[0]));
    if (bar.childNodes.length) node.append(bar);
    node.addEventListener("click", (event) => {
      if (!event.target.closest("button, input")) activate(place, { scroll: false });
    });
    if (take.x) node.append(el("p", { class: "error" }, take.x));
    for (const row of rows) {
      node.append(drawRow(row, prompt, rows.length > 1));
      if (row.a && take.d) node.append(drawWords(row, take, prompt, place));
    }
    clips.push(clip);
    return node;
  }

  function drawPlayer(bar, take, spoken, place) {
    const range = el("input", { type: "range", min: "0", max: String(take.d || 0), step: "0.01", value: "0", tabindex: "-1", "aria-label": "Position in " + spoken });
    const play = el("button", { type: "button", class: "play", "aria-label": "Play " + spoken }, icon("play"));
    const time = el("span", { class: "time" });
    play.addEventListener("click", () => { activate(place, { scroll: false }); toggle(); });
    range.addEventListener("input", () => seekTo(place, Number(range.value)));
    bar.append(play, range, time);
    return { play, range, time };
  }

  function drawFacts(row) {
    const facts = el("p", { class: "facts" });
    if (data.judges.length > 1) facts.append(el("b", {}, data.judges[row.j]));
    if (row.k) facts.append(el("span", {}, "judged again (" + (row.k + 1) + ")"));
    if (row.s !== OK) facts.append(el("span", { class: "status" }, spaced(data.statuses[row.s]), row.e ? el("code", {}, row.e) : null));
    if (row.c) facts.append(rate("CER", row.c, "characters"), rate("WER", row.v, "words"));
    return facts;
  }

  function drawRow(row, prompt, withFacts) {
    const box = el("div", { class: "row" }, withFacts ? drawFacts(row) : null);
    if (row.f) box.append(drawDifferences(row, prompt));
    else if (row.h !== undefined) box.append(pair(line("heard", prompt, row.h || nothing())));
    if (row.m) box.append(el("dl", { class: "marks" }, ...row.m.map(drawMark)));
    if (row.g || row.q) box.append(drawRubric(row));
    return box;
  }

  // Failed gates, and the arithmetic of the rubric behind a fold.
  function drawRubric(row) {
    const failed = row.g || [];
    const told = failed.length ? "Failed: " + failed.map(spaced).join(", ") : "All gates passed";
    if (!row.q) return el("p", { class: "gates" }, told);
    const lines = data.rubric.parts.map(([name, formula, share], i) => [name, formula, share, row.q[i]]);
    const sum = lines.reduce((total, [, , share, value]) => total + share * value, 0);
    const factors = failed.map((gate) => [gate, data.rubric.factors[gate] ?? 1]);
    const score = factors.reduce((product, [, factor]) => product * factor, sum);
    const cells = (...texts) => el("tr", {}, ...texts.map((text) => el("td", {}, text)));
    return el("details", { class: "gates" },
      el("summary", {}, "Rubric " + score.toFixed(2) + " · " + told),
      el("table", {}, el("tbody", {},
        ...lines.map(([name, formula, share, value]) => cells(name, formula, share.toFixed(2) + " × " + value.toFixed(4), "= " + (share * value).toFixed(4))),
        cells("sum", "", "", "= " + sum.toFixed(4)),
        ...factors.map(([gate, factor]) => cells(spaced(gate) + " failed", "", "× " + factor, "")),
        cells("rubric", "", "", "= " + score.toFixed(4)))));
  }

  function rate(name, [edits, of], unit) {
    const value = edits / Math.max(1, of);
    const shade = [0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.8].filter((step) => value >= step).length;
    const chip = name === "CER" ? "chip s" + shade : "chip";
    return el("span", { class: "rate", title: edits + " edits, " + of + " " + unit + " in the reference" }, name + " ", el("b", { class: chip }, percent(edits, of)), el("span", { class: "of" }, edits + "/" + of));
  }

  function drawMark([name, value, label, note]) {
    return el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value === null ? "–" : String(value)), label ? el("small", {}, "heard as " + label) : null, note ? el("p", {}, note) : null));
  }

  // The sound's outline with the words below it where they were said; what is odd is told in words, not by colour alone.
  const PX_PER_S = 110;
  const LANES = 3;

  function drawWords(row, take, prompt, place) {
    const share = (s) => (100 * s) / take.d + "%";
    const strip = el("div", { class: "timed" });
    strip.style.setProperty("width", Math.ceil(take.d * PX_PER_S) + "px");
    if (take.n) strip.append(outline(take.n));
    const lanes = el("div", { class: "lanes" });
    const placed = row.a.filter(([, start]) => start !== null);
    placed.forEach(([word, start, end, odd], i) => {
      const told = start.toFixed(2) + " to " + end.toFixed(2) + " s" + (odd ? ": " + odd : "");
      const bar = el("span", { class: odd ? "span odd" : "span" });
      const said = textNode("button", { type: "button", tabindex: "-1", class: odd ? "word odd" : "word", title: told, dir: "auto" }, prompt, word);
      if (odd) said.append(el("small", { lang: "en" }, " " + odd.split(" ").map((name) => ODD[name] || name).join(", ")));
      for (const [node, lane] of [[bar, 0], [said, 1 + (i % LANES)]]) {
        node.style.setProperty("left", share(start));
        node.dataset.lane = lane;
        lanes.append(node);
      }
      bar.style.setProperty("width", share(Math.max(end - start, 0.02)));
      if (take.u !== undefined) said.addEventListener("click", () => { activate(place, { scroll: false }); seekTo(place, start); });
    });
    strip.append(lanes);
    const box = el("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Words in time, by " + data.judges[row.j] }, strip);
    const missing = row.a.filter(([, start]) => start === null).map(([word]) => word);
    return el("div", {}, box, missing.length ? textNode("p", { class: "control" }, prompt, el("span", { lang: "en" }, "not placed: "), missing.join(", ")) : null);
  }

  const ODD = { pause: "after a pause", long: "drawn out", unsure: "unclear" };

  function outline(peaks) {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    const line = document.createElementNS(ns, "path");
    svg.setAttribute("class", "outline");
    svg.setAttribute("viewBox", "0 0 " + peaks.length + " 200");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const upper = peaks.map((peak, i) => "L" + (i + 0.5) + " " + (99 - peak));
    const lower = peaks.map((peak, i) => "L" + (i + 0.5) + " " + (101 + peak)).reverse();
    line.setAttribute("d", "M0 100" + upper.join("") + "L" + peaks.length + " 100" + lower.join("") + "Z");
    svg.append(line);
    return svg;
  }

  const pair = (...lines) => el("dl", { class: "pair" }, ...lines.flat());
  const nothing = () => el("i", { class: "nothing" }, "nothing");

  function line(label, prompt, ...children) {
    return [el("dt", {}, label), textNode("dd", label === "heard" ? { dir: "auto" } : {}, prompt, ...children)];
  }

  function drawDifferences(row, prompt) {
    if (row.f.every((piece) => typeof piece === "string")) {
      return pair(line("heard", prompt, el("span", { class: "right" }, "✓"), " ", row.h));
    }
    const said = [], heard = [];
    for (const piece of row.f) {
      if (typeof piece === "string") { said.push(piece); heard.push(piece); continue; }
      const [a, b] = piece;
      if (a) said.push(marked(a, b ? "x" : "d"));
      if (b) heard.push(marked(b, a ? "x" : "i"));
    }
    return pair(line("written", prompt, ...said), line("heard", prompt, ...(heard.length ? heard : [nothing()])));
  }

  const MARKS = { d: ["del", "missing"], i: ["ins", "added"], x: ["span", "differs"] };

  function marked(text, kind) {
    const [name, word] = MARKS[kind];
    return el(name, { class: kind }, el("span", { class: "vh", lang: "en" }, " [" + word + ": "), text, el("span", { class: "vh" }, "] "));
  }

  // Moving and playing.
  function activate(place, { focus = true, scroll = true } = {}) {
    if (clips[active]) { clips[active].node.removeAttribute("aria-current"); clips[active].node.tabIndex = -1; }
    active = place;
    const node = clips[place].node;
    node.setAttribute("aria-current", "true");
    node.tabIndex = 0;
    if (!focus) return;
    node.focus({ preventScroll: true });
    if (scroll) (node === node.parentNode.querySelector(".take") ? node.closest("li") : node).scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  function move(by) {
    if (!clips.length) return;
    // The first key of all goes to the sample that is marked already, not past it.
    const there = document.activeElement && document.activeElement.closest(".take");
    const wanted = there ? active + by : active;
    if (wanted >= clips.length) {
      if ((page + 1) * PAGE < found.length) { show(page + 1); activate(0); }
    } else if (wanted < 0) {
      if (page > 0) { show(page - 1); activate(clips.length - 1); }
    } else activate(wanted);
  }

  function load(clip) {
    const key = keyOf(clip.item, clip.take);
    if (playing !== key) {
      playing = key;
      sound.src = sounds ? sounds[clip.take.u] : clip.take.u;
    }
  }

  function toggle() {
    const clip = clips[active];
    if (!clip || !clip.play) return;
    if (playing === keyOf(clip.item, clip.take) && !sound.paused) { sound.pause(); return; }
    load(clip);
    sound.play().catch((error) => { if (error.name !== "AbortError") fail(clip); });
  }

  function fail(clip) {
    if (clip.play && !clip.node.querySelector(".lost")) {
      clip.node.querySelector(".player").append(el("span", { class: "warn lost", role: "alert" }, sounds ? "this sound can't be played" : "can't be played: is the store still beside the runs?"));
    }
  }

  function seekTo(place, seconds) {
    activate(place, { scroll: false });
    load(clips[place]);
    const go = () => { sound.currentTime = Math.min(Math.max(0, seconds), sound.duration || seconds); };
    if (sound.readyState > 0) go();
    else { sound.addEventListener("loadedmetadata", go, { once: true }); sound.load(); }
  }

  function seekBy(seconds) {
    const clip = clips[active];
    if (clip && clip.play) seekTo(active, (playing === keyOf(clip.item, clip.take) ? sound.currentTime : 0) + seconds);
  }

  function drawPlaying() {
    for (const clip of clips) {
      if (!clip.play) continue;
      const here = keyOf(clip.item, clip.take) === playing;
      const running = here && !sound.paused && !sound.ended;
      const wanted = running ? "#i-pause" : "#i-play";
      const use = clip.play.querySelector("use");
      if (use.getAttribute("href") !== wanted) {
        use.setAttribute("href", wanted);
        clip.play.setAttribute("aria-label", (running ? "Pause " : "Play ") + clip.spoken);
        clip.node.classList.toggle("playing", running);
      }
      const at = here ? sound.currentTime : 0;
      const length = (here && Number.isFinite(sound.duration) && sound.duration) || clip.take.d || 0;
      clip.range.max = String(length);
      clip.range.value = String(at);
      clip.range.setAttribute("aria-valuetext", clock(at) + " of " + clock(length));
      clip.time.textContent = at > 0 ? at.toFixed(1) + " / " + clock(length) : clock(length);
    }
  }

  // Keys.
  const ACTIONS = {
    ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
    Enter: toggle, p: toggle, ArrowLeft: () => seekBy(-SEEK_S), ArrowRight: () => seekBy(SEEK_S),
    "/": () => { $("f-text").focus(); $("f-text").select(); }, "?": () => $("help").showModal(),
  };

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = event.target;
    if ($("help").open) {
      if (event.key === "?") { $("help").close(); event.preventDefault(); }
      return;
    }
    if (at === $("f-text")) {
      if (event.key === "Escape") { at.blur(); return; }
      if (event.key !== "ArrowDown" && event.key !== "Enter") return;
      event.preventDefault();
      clearTimeout(waiting);
      apply();
      if (clips.length) activate(0);
      return;
    }
    if (at.closest("select")) return;
    if (event.key === "Enter" && at.closest("button, a, summary")) return;
    const action = ACTIONS[event.key];
    if (action) { event.preventDefault(); action(); }
  }

  // Start.
  function pickMetric() {
    const wanted = $("metric").value;
    for (const panel of document.querySelectorAll(".panel")) {
      panel.hidden = wanted === "" ? panel.dataset.headline !== "1" : panel.dataset.metric !== wanted;
    }
  }

  // A number of a heat map was chosen: show the samples behind it.
  function pickCell(link) {
    $("filters").reset();
    picks.system.value = String(data.systems.indexOf(link.dataset.system));
    picks.judge.value = data.judges.length > 1 ? String(data.judges.indexOf(link.dataset.judge)) : "";
    if (link.dataset.language) picks.language.value = link.dataset.language;
    if (link.dataset.tag) picks.tag.value = link.dataset.tag;
    apply();
  }

  $("f-text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  $("filters").addEventListener("change", (event) => { if (event.target !== $("f-text")) apply(); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("previous").addEventListener("click", () => { show(page - 1); activate(0); });
  $("next").addEventListener("click", () => { show(page + 1); activate(0); });
  $("help-button").addEventListener("click", () => $("help").showModal());
  if ($("metric")) { $("metric").addEventListener("change", pickMetric); pickMetric(); }
  for (const link of document.querySelectorAll(".heat a")) link.addEventListener("click", () => pickCell(link));
  for (const name of ["play", "pause", "ended", "timeupdate", "loadedmetadata", "seeked"]) sound.addEventListener(name, drawPlaying);
  sound.addEventListener("error", () => { const clip = clips.find((one) => keyOf(one.item, one.take) === playing); if (clip) fail(clip); });
  document.addEventListener("keydown", onKey);
  fillPicks();
  apply();
})();
