// The scatter plot with selectable axes and colours. Rows are highlighted by pointer or arrow keys and selected by dragging.
function scatter() {
  const canvas = $("scatter"), tip = $("tip"), legend = $("legend"), margin = 42;
  if (data.axes.length === 0) {
    $("embedding").replaceChildren(element("p", "One row has no embedding."));
    return;
  }
  let places = [], from = null, to = null;

  // The colour of each point and the entries of the legend.
  function colouring() {
    const by = $("by").value;
    if (by === "cluster") {
      const names = partition().colours.map((_, c) => `cluster ${c}`);
      return { colour: (i) => clusterColour(label(i)), names, dot: clusterColour, test: (c) => (i) => label(i) === c };
    }
    if (by === "class") {
      const dot = (c) => data.colours[c];
      return { colour: (i) => dot(data.classes[i]), names: data.class_names, dot, test: (c) => (i) => data.classes[i] === c };
    }
    if (by === "silhouette") {
      return { colour: (i) => rgb(shade((partition().silhouette[i] + 100) / 200)), ends: [-1, 1] };
    }
    const axis = data.axes[Number(by)];
    const [low, high] = range(axis.values);
    return { colour: (i) => rgb(shade((axis.values[i] - low) / (high - low))), ends: [low, high] };
  }

  function explain({ names, ends, dot, test }) {
    if (ends) {
      const bar = element("span", undefined, "ramp");
      bar.style.background = `linear-gradient(to right, ${ramp.join(",")})`;
      legend.replaceChildren(element("span", short(ends[0])), bar, element("span", short(ends[1])));
      return;
    }
    const key = `${$("by").value} ${state.at}`;
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    legend.replaceChildren(...names.slice(0, 30).map((name, c) => {
      const entry = element("button", undefined, "link");
      const mark = element("span", undefined, "dot");
      mark.style.background = dot(c);
      entry.append(mark, name);
      entry.addEventListener("click", () => pickWhere(test(c)));
      return entry;
    }));
    if (names.length > 30) legend.append(element("span", `and ${names.length - 30} more`));
  }

  function draw() {
    const x = data.axes[Number($("x").value)], y = data.axes[Number($("y").value)];
    const { pen, width, height } = prepare(canvas);
    const [xs, ys] = [range(x.values), range(y.values)];
    const across = (v) => margin + (width - 2 * margin) * (v - xs[0]) / (xs[1] - xs[0]);
    const up = (v) => height - margin - (height - 2 * margin) * (v - ys[0]) / (ys[1] - ys[0]);
    places = x.values.map((v, i) => [across(v), up(y.values[i])]);
    const colours = colouring();
    const radius = places.length > 1500 ? 2.5 : places.length > 400 ? 3.5 : 4.5;
    // Unselected points first, so that the selection is on top.
    for (const front of [false, true]) {
      pen.globalAlpha = front ? 0.9 : 0.15;
      places.forEach(([px, py], i) => {
        if (bright(i) !== front) return;
        pen.fillStyle = colours.colour(i);
        pen.beginPath();
        pen.arc(px, py, radius, 0, 7);
        pen.fill();
      });
    }
    pen.globalAlpha = 1;
    pen.fillStyle = pen.strokeStyle = ink("text");
    pen.textAlign = "center";
    pen.fillText(x.name, width / 2, height - 12, width - 2 * margin - 160);
    // The ends of the scales begin and end at the corners of the plot, so that those of two axes do not meet.
    const ends = (values, from, to, line) => {
      pen.textAlign = "left";
      pen.fillText(short(values[0]), from, line);
      pen.textAlign = "right";
      pen.fillText(short(values[1]), to, line);
    };
    ends(xs, margin, width - margin, height - 12);
    pen.save();
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(y.name, -height / 2, 18, height - 2 * margin - 160);
    ends(ys, margin - height, -margin, 18);
    pen.restore();
    pen.lineWidth = 2;
    state.hover.forEach((i) => {
      pen.beginPath();
      pen.arc(places[i][0], places[i][1], radius + 4, 0, 7);
      pen.stroke();
    });
    if (from && to) {
      pen.setLineDash([5, 4]);
      pen.strokeRect(from[0], from[1], to[0] - from[0], to[1] - from[1]);
      pen.setLineDash([]);
    }
    if (!state.hover.length) tip.hidden = true;
    explain(colours);
  }

  const nearest = ([px, py]) => {
    let best = -1, distance = 20 * 20;
    places.forEach(([qx, qy], i) => {
      const d = (qx - px) ** 2 + (qy - py) ** 2;
      if (d < distance) { distance = d; best = i; }
    });
    return best;
  };
  function point(i) {
    change({ hover: i < 0 ? [] : [i] });
    if (i < 0) tip.hidden = true;
    else showTip(tip, canvas, places[i][0], places[i][1], describe(i));
  }
  canvas.addEventListener("pointerdown", (event) => {
    // Touch scrolls the page and selects by tapping.
    if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
    from = within(canvas, event);
    to = null;
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = within(canvas, event);
    if (from && event.pointerType !== "touch" && Math.hypot(here[0] - from[0], here[1] - from[1]) > 5) {
      to = here;
      tip.hidden = true;
      change({ hover: [] });
    } else if (!to) point(nearest(here));
  });
  canvas.addEventListener("pointerup", (event) => {
    const here = within(canvas, event);
    if (to) {
      const inside = (v, a, b) => v >= Math.min(a, b) && v <= Math.max(a, b);
      pickWhere((i) => inside(places[i][0], from[0], here[0]) && inside(places[i][1], from[1], here[1]));
    } else if (from) {
      const i = nearest(here);
      pick(i < 0 ? [] : [i]);
      point(i);
    }
    from = to = null;
  });
  canvas.addEventListener("pointercancel", () => { from = to = null; change({}); });
  canvas.addEventListener("pointerleave", () => { if (!from) point(-1); });
  // Keyboard: arrows move from row to row, Enter selects the row's cluster.
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const now = state.hover.length ? state.hover[0] : step < 0 ? 0 : -1;
    if (step) { event.preventDefault(); point((now + step + places.length) % places.length); }
    if (event.key === "Enter" && now >= 0) pickWhere((i) => label(i) === label(now));
  });
  const axes = data.axes.map((axis, i) => [String(i), axis.name]);
  fill($("x"), axes, String(data.start[0]), () => change({}));
  fill($("y"), axes, String(data.start[1]), () => change({}));
  const kinds = [["cluster", "cluster"]];
  if (data.classes) kinds.push(["class", "known class"]);
  kinds.push(["silhouette", "silhouette"]);
  fill($("by"), kinds.concat(axes), "cluster", () => { delete legend.dataset.key; change({}); });
  views.push(draw);
}
