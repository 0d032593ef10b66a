// The scatter plot: axes and colours by choice, the row under the pointer by name. All text goes in as textContent.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("scatter");
  const tip = document.getElementById("tip");
  const legend = document.getElementById("legend");
  const choose = (id) => document.getElementById(id);
  const ramp = ["#440154", "#472c7a", "#3b518b", "#2c718e", "#21908d", "#27ad81", "#5cc863", "#aadc32", "#fde725"];
  const margin = 40;
  let places = [];
  let marked = -1;

  const element = (tag, text) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const fill = (select, options, chosen) => {
    options.forEach(([value, text]) => {
      const option = element("option", text);
      option.value = value;
      select.append(option);
    });
    select.value = chosen;
    select.addEventListener("change", draw);
  };
  const range = (values) => {
    let low = Infinity, high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    return high > low ? [low, high] : [low - 1, high + 1];
  };
  const short = (v) => (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(2) : String(+v.toPrecision(4)));
  const shade = (t) => {
    const at = Math.min(Math.max(t, 0), 1) * (ramp.length - 1);
    const below = Math.min(Math.floor(at), ramp.length - 2);
    const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
    const mix = (i) => Math.round(part(ramp[below], i) + (part(ramp[below + 1], i) - part(ramp[below], i)) * (at - below));
    return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
  };

  // A colour for each point, and what the colours mean.
  function colouring() {
    const by = choose("by").value;
    if (by === "cluster" || by === "class") {
      const codes = by === "cluster" ? data.clusters : data.classes;
      const names = by === "cluster" ? Array.from({ length: data.k }, (_, c) => `cluster ${c}`) : data.class_names;
      return { colour: (i) => data.colours[codes[i]], names };
    }
    const axis = data.axes[Number(by)];
    const [low, high] = range(axis.values);
    return { colour: (i) => shade((axis.values[i] - low) / (high - low)), ends: [low, high] };
  }

  function explain({ names, ends }) {
    legend.replaceChildren();
    if (ends) {
      const bar = element("span");
      bar.className = "ramp";
      bar.style.background = `linear-gradient(to right, ${ramp.join(",")})`;
      legend.append(element("span", short(ends[0])), bar, element("span", short(ends[1])));
      return;
    }
    names.slice(0, 30).forEach((name, c) => {
      const entry = element("span");
      const dot = element("span");
      dot.className = "dot";
      dot.style.background = data.colours[c];
      entry.append(dot, name);
      legend.append(entry);
    });
    if (names.length > 30) legend.append(element("span", `and ${names.length - 30} more`));
  }

  function draw() {
    const x = data.axes[Number(choose("x").value)];
    const y = data.axes[Number(choose("y").value)];
    const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const [xs, ys] = [range(x.values), range(y.values)];
    const across = (v) => margin + (width - 2 * margin) * (v - xs[0]) / (xs[1] - xs[0]);
    const up = (v) => height - margin - (height - 2 * margin) * (v - ys[0]) / (ys[1] - ys[0]);
    places = x.values.map((v, i) => [across(v), up(y.values[i])]);
    const colours = colouring();
    const radius = places.length > 1500 ? 2.5 : places.length > 400 ? 3.5 : 4.5;
    pen.globalAlpha = 0.9;
    places.forEach(([px, py], i) => {
      pen.fillStyle = colours.colour(i);
      pen.beginPath();
      pen.arc(px, py, radius, 0, 7);
      pen.fill();
    });
    pen.globalAlpha = 1;
    const style = getComputedStyle(document.body);
    pen.fillStyle = pen.strokeStyle = style.color;
    pen.font = `13px ${style.fontFamily}`;
    pen.textAlign = "center";
    pen.fillText(x.name, width / 2, height - 10, width - 2 * margin - 120);
    pen.fillText(short(xs[0]), margin, height - 10);
    pen.fillText(short(xs[1]), width - margin, height - 10);
    pen.save();
    pen.rotate(-Math.PI / 2);
    pen.fillText(y.name, -height / 2, 18, height - 2 * margin - 120);
    pen.fillText(short(ys[0]), margin - height, 18);
    pen.fillText(short(ys[1]), -margin, 18);
    pen.restore();
    if (marked >= 0) {
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(places[marked][0], places[marked][1], radius + 3, 0, 7);
      pen.stroke();
    }
    explain(colours);
  }

  function show(i) {
    marked = i;
    draw();
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.replaceChildren(element("b", `row ${data.rows[i]}, cluster ${data.clusters[i]}`));
    if (data.classes) tip.append(element("div", data.class_names[data.classes[i]]));
    const columns = data.axes.filter((axis) => axis.column);
    columns.slice(0, 8).forEach((axis) => tip.append(element("div", `${axis.name}: ${short(axis.values[i])}`)));
    if (columns.length > 8) tip.append(element("div", "…"));
    const [px, py] = places[i];
    tip.style.left = `${Math.max(0, Math.min(px + 12, canvas.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, Math.min(py + 12, canvas.clientHeight - tip.offsetHeight))}px`;
  }

  function point(event) {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1, distance = 20 * 20;
    places.forEach(([qx, qy], i) => {
      const d = (qx - px) ** 2 + (qy - py) ** 2;
      if (d < distance) { distance = d; best = i; }
    });
    if (best !== marked) show(best);
  }

  if (data.axes.length === 0) {
    canvas.replaceWith(element("p", "A single row has nothing to be placed by."));
    return;
  }
  const axes = data.axes.map((axis, i) => [String(i), axis.name]);
  fill(choose("x"), axes, String(data.start[0]));
  fill(choose("y"), axes, String(data.start[1]));
  const kinds = [["cluster", "cluster"]];
  if (data.classes) kinds.push(["class", "known class"]);
  fill(choose("by"), kinds.concat(axes), "cluster");
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", () => show(-1));
  // By keyboard: arrows go from row to row, Escape lets go.
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); show((marked + step + places.length) % places.length); }
    if (event.key === "Escape") show(-1);
  });
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
