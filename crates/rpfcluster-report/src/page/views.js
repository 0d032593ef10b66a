// The silhouette, the slider over numbers of clusters with the eigenvalues that follow it, and the selection.
function silhouette() {
  const canvas = $("silhouette"), tip = $("silhouette-tip"), left = 44;
  let order = [], drawn = -1;
  function draw() {
    const { labels, silhouette: values, k, mean } = partition();
    if (drawn !== state.at) {
      order = values.map((_, i) => i).sort((a, b) => labels[a] - labels[b] || values[b] - values[a] || a - b);
      drawn = state.at;
    }
    const { pen, width, height } = prepare(canvas);
    const floor = Math.min(0, ...order.map((i) => values[i])) / 100 < -0.02 ? -1 : -0.1;
    const up = (v) => 14 + (height - 34) * (1 - v) / (1 - floor);
    const unit = (width - left - 12) / order.length;
    order.forEach((i, at) => {
      pen.globalAlpha = bright(i) ? 1 : 0.2;
      pen.fillStyle = clusterColour(labels[i]);
      const top = up(values[i] / 100), zero = up(0);
      pen.fillRect(left + at * unit, Math.min(top, zero), Math.max(unit, 0.6), Math.abs(top - zero) || 0.5);
    });
    pen.globalAlpha = 1;
    pen.fillStyle = pen.strokeStyle = ink("text");
    pen.textAlign = "right";
    (floor < -0.5 ? [1, 0.5, 0, -0.5, -1] : [1, 0.5, 0]).forEach((v) => pen.fillText(String(v), left - 8, up(v) + 4));
    pen.textAlign = "center";
    for (let c = 0, from = 0; c < k && k <= 30; c++) {
      const size = order.reduce((sum, i) => sum + (labels[i] === c), 0);
      if (size * unit > 14) pen.fillText(String(c), left + (from + size / 2) * unit, height - 5);
      from += size;
    }
    pen.setLineDash([6, 4]);
    pen.beginPath();
    pen.moveTo(left, up(mean)); pen.lineTo(width - 12, up(mean));
    pen.stroke();
    pen.setLineDash([]);
    pen.lineWidth = 1.5;
    state.hover.forEach((point) => {
      const at = left + (order.indexOf(point) + 0.5) * unit;
      pen.beginPath();
      pen.moveTo(at, 8); pen.lineTo(at, height - 18);
      pen.stroke();
    });
    if (!state.hover.length) tip.hidden = true;
  }
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = within(canvas, event);
    const i = order[Math.floor((x - left) / ((canvas.clientWidth - left - 12) / order.length))];
    change({ hover: i === undefined ? [] : [i] });
    const lines = i === undefined ? null : [`silhouette ${(partition().silhouette[i] / 100).toFixed(2)}`, ...describe(i)];
    showTip(tip, canvas, x, y, lines);
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; change({ hover: [] }); });
  views.push(draw);
}

function slider() {
  const input = $("k"), words = $("k-words"), other = $("other");
  if (!input) return;
  const run = each.findIndex((p) => p.run);
  const go = (at) => { input.value = at; change({ at }); };
  input.addEventListener("input", () => go(Number(input.value)));
  $("back").addEventListener("click", () => go(run));
  document.querySelectorAll(".bars g[data-k]").forEach((bar) => {
    bar.addEventListener("click", () => go(each.findIndex((p) => p.k === Number(bar.dataset.k))));
  });
  let shown = -1;
  views.push(() => {
    if (shown === state.at) return;
    shown = state.at;
    const p = partition();
    $("k-now").textContent = String(p.k);
    input.setAttribute("aria-valuetext", `${p.k} clusters`);
    const all = p.sizes.reduce((sum, size) => sum + size, 0);
    const shares = p.sizes.slice(0, 12).map((size) => `${(100 * size / all).toFixed(1)} %`).join(", ");
    const of = p.whole ? "the rows" : `a sample of ${all} rows`;
    const mean = data.rows.length < data.n ? `Mean silhouette of a sample of ${data.rows.length} rows` : "Mean silhouette";
    const score = p.score === null ? "" : ` Score ${p.score.toFixed(2)}.`;
    words.textContent = `${p.run ? "The result of the run. " : ""}Shares of ${of}: ${shares}${p.k > 12 ? ", …" : "."}${score} ${mean} ${p.mean.toFixed(2)}.`;
    other.hidden = $("back").hidden = p.run;
    other.textContent = `The pictures show ${p.k} clusters; the tables describe the run's ${data.k}.`;
    document.querySelectorAll(".bars g[data-k]").forEach((bar) => bar.classList.toggle("now", Number(bar.dataset.k) === p.k));
    eigen(p.k);
  });
}

// As in the figure before the script runs: small gaps keep their digits, rounding errors are no gap.
const gapInWords = (gap) => (gap < 1e-9 ? "no gap" : `gap ${gap < 1e-3 ? gap.toExponential(1) : gap.toFixed(gap < 1e-2 ? 4 : 3)}`);

// Marks the gap after the K-th eigenvalue.
function eigen(k) {
  const figure = $("eigenvalues");
  const dots = [...figure.querySelectorAll("circle[data-at]")], gap = figure.querySelector(".gap");
  dots.forEach((dot, at) => {
    dot.style.fill = at < k ? "var(--main)" : "var(--ground)";
    dot.style.stroke = at < k ? "var(--main)" : "var(--text)";
  });
  const [last, next] = [dots[k - 1], dots[k]];
  if (!gap) return;
  gap.style.display = last && next ? "" : "none";
  if (!last || !next) return;
  const x = (Number(last.getAttribute("cx")) + Number(next.getAttribute("cx"))) / 2;
  const [from, to] = [last, next].map((dot) => Number(dot.getAttribute("cy")));
  const [line, text] = gap.children;
  line.setAttribute("d", `M${x} ${from}V${Math.max(to, from + 1)}`);
  // Eigenvalues decrease: on the right the label fits above the next dot, on the left below the last one.
  const center = (from + to) / 2 + 4;
  text.setAttribute("x", x > 520 ? x - 8 : x + 8);
  text.setAttribute("text-anchor", x > 520 ? "end" : "start");
  text.setAttribute("y", x > 520 ? Math.max(center, from + 18) : Math.min(center, to - 10));
  text.textContent = gapInWords(Number(last.dataset.value) - Number(next.dataset.value));
}

// The bar at the bottom describes the selection; buttons in the tables select and highlight rows.
function selection() {
  const bar = $("selected"), words = $("selected-words");
  $("clear").addEventListener("click", () => pick([]));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") change({ picked: null, hover: [] }); });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-cluster], button[data-point]");
    if (!button) return;
    const on = button.getAttribute("aria-pressed") === "true";
    document.querySelectorAll("[aria-pressed=true]").forEach((b) => b.setAttribute("aria-pressed", "false"));
    if (on) pick([]);
    else if (button.dataset.cluster) pickWhere((i) => data.clusters[i] === Number(button.dataset.cluster));
    else pick([Number(button.dataset.point)]);
    button.setAttribute("aria-pressed", String(!on));
  });
  const pointAt = (event) => {
    const button = event.target.closest && event.target.closest("button[data-point]");
    if (button) change({ hover: [Number(button.dataset.point)] });
  };
  document.addEventListener("pointerover", pointAt);
  document.addEventListener("focusin", pointAt);
  document.addEventListener("pointerout", (event) => {
    if (event.target.closest && event.target.closest("button[data-point]")) change({ hover: [] });
  });
  let shown = null, at = -1;
  views.push(() => {
    if (shown === state.picked && at === state.at) return;
    [shown, at] = [state.picked, state.at];
    bar.hidden = !shown;
    if (!shown) {
      document.querySelectorAll("[aria-pressed=true]").forEach((b) => b.setAttribute("aria-pressed", "false"));
      return;
    }
    const picked = [...shown];
    const counts = new Map();
    picked.forEach((i) => counts.set(label(i), (counts.get(label(i)) || 0) + 1));
    const clusters = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([c, count]) => `${count} in cluster ${c}`);
    const rows = picked.slice(0, 12).map((i) => data.rows[i]).join(", ");
    const mean = (values, of) => of.reduce((sum, i) => sum + values[i], 0) / of.length;
    const all = data.rows.map((_, i) => i);
    const sampled = all.length < data.n;
    const whole = sampled ? "sample" : "all";
    const columns = data.axes.filter((axis) => axis.column).slice(0, 4)
      .map((axis) => `${axis.name} ${short(mean(axis.values, picked))} (${whole}: ${short(mean(axis.values, all))})`);
    const from = sampled ? `a sample of ${all.length} rows` : `${all.length} rows`;
    const lines = [`${picked.length} of ${from} selected: ${clusters.join(", ")}.`,
      `Rows ${rows}${picked.length > 12 ? ", …" : ""}.`];
    if (columns.length) lines.push(`Means: ${columns.join(", ")}.`);
    words.replaceChildren(...lines.map((line) => element("div", line)));
  });
}
