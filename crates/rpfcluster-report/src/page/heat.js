// The heat map: similarities of some rows in a selectable order, with the clusters along its sides.
function heat() {
  const canvas = $("heat"), tip = $("heat-tip"), strip = 9, gap = 3;
  const members = data.heat.members, n = members.length;
  if (n < 2) {
    $("similarity").replaceChildren(element("p", "One row has no similarities to show."));
    return;
  }
  const lower = Uint8Array.from(atob(data.heat.lower), (c) => c.charCodeAt(0));
  // Square roots of similarities; the diagonal is brightest.
  const share = (a, b) => (a === b ? 255 : a > b ? lower[a * (a - 1) / 2 + b] : lower[b * (b - 1) / 2 + a]);
  const place = new Map(members.map((point, at) => [point, at]));
  const scale = Math.sqrt(data.heat.largest / data.heat.bright) / 255;
  const colours = Array.from({ length: 256 }, (_, v) => shade(v * scale));
  const diagonal = shade(1);
  const cells = document.createElement("canvas");
  let order = [], drawn = "", side = 0;

  // Greedy ordering: within a group each row is followed by the most similar remaining one, so that blocks become visible.
  function chained(sorted, group) {
    const left = new Set(sorted), chain = [];
    let last = -1;
    while (left.size) {
      let best = -1, most = -1;
      const now = last >= 0 ? group(last) : group(sorted[0]);
      for (const at of left) {
        // Sets keep insertion order, so the current group comes first.
        if (group(at) !== now) { if (best >= 0) break; best = at; break; }
        const value = last >= 0 ? share(last, at) : 0;
        if (value > most) { most = value; best = at; }
      }
      chain.push(best);
      left.delete(best);
      last = best;
    }
    return chain;
  }

  function arrange() {
    const by = $("order").value, wanted = `${by} ${by === "cluster" ? state.at : ""}`;
    if (wanted === drawn) return;
    drawn = wanted;
    const sure = data.axes.find((axis) => axis.name === "confidence" && !axis.column);
    const key = {
      cluster: (p) => label(p),
      class: (p) => data.classes[p],
      confidence: (p) => (sure ? -sure.values[p] : 0),
      row: (p) => data.rows[p],
    }[by];
    order = members.map((_, at) => at).sort((a, b) => key(members[a]) - key(members[b]) || a - b);
    if (by === "cluster" || by === "class") order = chained(order, (at) => key(members[at]));
    cells.width = cells.height = n;
    const image = cells.getContext("2d").createImageData(n, n);
    for (let y = 0, to = 0; y < n; y++) {
      for (let x = 0; x < n; x++, to += 4) {
        const colour = x === y ? diagonal : colours[share(order[y], order[x])];
        image.data[to] = colour[0]; image.data[to + 1] = colour[1]; image.data[to + 2] = colour[2]; image.data[to + 3] = 255;
      }
    }
    cells.getContext("2d").putImageData(image, 0, 0);
  }

  function draw() {
    arrange();
    const { pen, width, height } = prepare(canvas);
    const edge = strip + gap;
    side = Math.min(width, height) - edge;
    const unit = side / n;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(cells, edge, edge, side, side);
    const byClass = $("order").value === "class" && data.classes;
    order.forEach((at, y) => {
      const point = members[at];
      pen.fillStyle = byClass ? data.colours[data.classes[point]] : clusterColour(label(point));
      pen.fillRect(0, edge + y * unit, strip, unit + 0.5);
      pen.fillRect(edge + y * unit, 0, unit + 0.5, strip);
    });
    if (state.picked) {
      pen.fillStyle = ink("ground");
      pen.globalAlpha = 0.6;
      order.forEach((at, y) => {
        if (bright(members[at])) return;
        pen.fillRect(edge, edge + y * unit, side, unit + 0.2);
        pen.fillRect(edge + y * unit, edge, unit + 0.2, side);
      });
      pen.globalAlpha = 1;
    }
    pen.strokeStyle = "#fff";
    pen.lineWidth = 1.5;
    state.hover.forEach((point) => {
      const y = place.has(point) ? order.indexOf(place.get(point)) : -1;
      if (y < 0) return;
      const middle = edge + (y + 0.5) * unit;
      pen.beginPath();
      pen.moveTo(0, middle); pen.lineTo(edge + side, middle);
      pen.moveTo(middle, 0); pen.lineTo(middle, edge + side);
      pen.stroke();
    });
    if (state.hover.length < 2) tip.hidden = true;
  }

  const similar = (v) => (v >= 0.095 || v === 0 ? v.toFixed(2) : v.toPrecision(1));
  function show(x, y) {
    const [a, b] = [order[y], order[x]];
    const value = (share(a, b) / 255) ** 2 * data.heat.largest;
    change({ hover: [members[a], members[b]] });
    const edge = strip + gap, unit = side / n;
    const names = [members[a], members[b]].map((p) => `row ${data.rows[p]} (cluster ${label(p)})`);
    showTip(tip, canvas, edge + x * unit, edge + y * unit, [a === b ? "the same row" : `similarity ${similar(value)}`, ...names]);
  }
  const cell = (event) => within(canvas, event).map((v) => Math.floor((v - strip - gap) / (side / n)));
  const inside = (v) => v >= 0 && v < n;
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = cell(event);
    if (inside(x) && inside(y)) show(x, y);
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; change({ hover: [] }); });
  canvas.addEventListener("click", (event) => {
    const [x, y] = cell(event);
    if (!inside(Math.max(x, 0)) || !inside(Math.max(y, 0))) return;
    const clusters = [x, y].filter(inside).map((v) => label(members[order[v]]));
    pickWhere((i) => clusters.includes(label(i)));
  });
  // Keyboard: arrows move from cell to cell, Enter selects the clusters of both rows.
  let at = [0, 0];
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (step) {
      event.preventDefault();
      at = at.map((v, axis) => Math.min(Math.max(v + step[axis], 0), n - 1));
      show(...at);
    }
    if (event.key === "Enter") pickWhere((i) => at.some((v) => label(members[order[v]]) === label(i)));
  });
  const orders = [["cluster", "cluster"]];
  if (data.classes) orders.push(["class", "known class"]);
  if (data.axes.some((axis) => axis.name === "confidence" && !axis.column)) orders.push(["confidence", "confidence"]);
  orders.push(["row", "input row"]);
  fill($("order"), orders, "cluster", () => change({}));
  views.push(draw);
}
