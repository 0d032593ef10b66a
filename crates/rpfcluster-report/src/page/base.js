// Shared by all views: the data, the state, and helpers. All text from the data is inserted as textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const each = data.partitions.each;
const ramp = ["#440154", "#472c7a", "#3b518b", "#2c718e", "#21908d", "#27ad81", "#5cc863", "#aadc32", "#fde725"];

// The partition shown, the points under the pointer, and the selected points (null: no selection).
const state = { at: each.findIndex((p) => p.run), hover: [], picked: null };
const views = [];
let queued = 0;
const drawAll = () => { queued = 0; views.forEach((draw) => draw()); };
function change(next) {
  Object.assign(state, next);
  if (!queued) queued = requestAnimationFrame(drawAll);
}

const partition = () => each[state.at];
const label = (i) => partition().labels[i];
const clusterColour = (c) => data.colours[partition().colours[c]];
const bright = (i) => !state.picked || state.picked.has(i);
const pick = (points) => change({ picked: points.length ? new Set(points) : null });
const pickWhere = (test) => pick(data.rows.map((_, i) => i).filter(test));

const element = (tag, text, className) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};
const range = (values) => {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  return high > low ? [low, high] : [low - 1, high + 1];
};
const short = (v) => (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(2) : String(+v.toPrecision(4)));
const parts = ramp.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const shade = (t) => {
  const at = Math.min(Math.max(t, 0), 1) * (parts.length - 1);
  const below = Math.min(Math.floor(at), parts.length - 2);
  return parts[below].map((v, i) => Math.round(v + (parts[below + 1][i] - v) * (at - below)));
};
const rgb = (colour) => `rgb(${colour.join(",")})`;

// A colour of the style sheet in the current light or dark theme.
const probe = document.body.appendChild(element("span"));
probe.hidden = true;
const ink = (name) => {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
};

// Clears a canvas and scales it to the pixels of the screen.
function prepare(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  return { pen, width, height };
}
const within = (canvas, event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

// The tooltip beside the pointer.
function showTip(tip, canvas, x, y, lines) {
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((line, at) => element(at ? "div" : "b", line)));
  tip.style.left = `${Math.max(0, Math.min(x + 14, canvas.clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${Math.max(0, Math.min(y + 14, canvas.clientHeight - tip.offsetHeight))}px`;
}
function describe(i) {
  const lines = [`row ${data.rows[i]}, cluster ${label(i)}`];
  if (data.classes) lines.push(`known class: ${data.class_names[data.classes[i]]}`);
  const sure = data.axes.find((axis) => axis.name === "confidence" && !axis.column);
  if (sure) lines.push(`confidence ${short(sure.values[i])}`);
  const columns = data.axes.filter((axis) => axis.column);
  columns.slice(0, 8).forEach((axis) => lines.push(`${axis.name}: ${short(axis.values[i])}`));
  if (columns.length > 8) lines.push("…");
  return lines;
}
const fill = (select, options, chosen, act) => {
  options.forEach(([value, text]) => {
    const option = element("option", text);
    option.value = value;
    select.append(option);
  });
  select.value = chosen;
  select.addEventListener("change", act);
};
