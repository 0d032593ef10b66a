// Tests of the report page in Chromium: it opens from a file without a network request or an error, its views are linked,
// and names in the data are never interpreted as HTML.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blobs, browser, colours, open, page, pixels, put, settled } from "./harness.mjs";

let context, iris;

before(async () => {
  context = await browser();
  // With a choice of the setting, which has a section of its own.
  const asked = ["-k", "3", "--affinity", "auto", "--label", "species", "-o", "labels.csv"];
  iris = page("iris.html", "cluster", "iris.csv", ...asked);
});
after(() => context.close());

// Opens a page, runs `check` on it, and fails on any request or error.
async function quiet(url, check = async () => {}) {
  const { tab, seen } = await open(context, url);
  await check(tab);
  await settled(tab);
  assert.deepEqual(seen, { requests: [], errors: [] });
  await tab.close();
}

const change = async (tab, id, value) => { await tab.selectOption(`#${id}`, value); await settled(tab); };
const centre = async (tab, id) => {
  const element = tab.locator(`#${id}`);
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2, box];
};
// Moves the pointer over a canvas until a tooltip appears.
async function findPoint(tab, id, tip) {
  const [, , box] = await centre(tab, id);
  for (let y = 0.1; y < 0.95; y += 0.04) {
    for (let x = 0.1; x < 0.95; x += 0.04) {
      await tab.mouse.move(box.x + box.width * x, box.y + box.height * y);
      if (await tab.locator(`#${tip}`).isVisible()) return;
    }
  }
  assert.fail(`no tooltip anywhere on ${id}`);
}

test("every section of the page is visible", () => quiet(iris.url, async (tab) => {
  for (const id of ["number", "embedding", "similarity", "clusters", "typical", "silhouettes", "doubtful", "eigenvalues",
    "agreement", "chosen", "made"]) {
    assert.ok(await tab.locator(`#${id}`).isVisible(), id);
  }
  assert.match(await tab.locator("#made pre").innerText(), /^rpf cluster iris\.csv -k 3/);
  for (const canvas of ["scatter", "heat", "silhouette"]) {
    const shown = await colours(tab, canvas);
    assert.ok(shown > 3, `${canvas} shows ${shown} colours`);
  }
}));

test("the slider changes the number of clusters, and a button restores it", () => quiet(iris.url, async (tab) => {
  const seen = await Promise.all(["scatter", "heat", "silhouette"].map((id) => pixels(tab, id)));
  assert.equal(await tab.locator("#k-now").innerText(), "3");
  assert.ok(await tab.locator("#other").isHidden());
  await tab.locator("#k").focus();
  await tab.keyboard.press("ArrowRight");
  await settled(tab);
  assert.equal(await tab.locator("#k-now").innerText(), "4");
  assert.match(await tab.locator("#k-words").innerText(), /Score \d\.\d\d/);
  assert.match(await tab.locator("#other").innerText(), /show 4 clusters/);
  assert.match(await tab.locator("#eigenvalues .gap text").textContent(), /^(gap (?!0\.000)|no gap)/);
  const now = await Promise.all(["scatter", "heat", "silhouette"].map((id) => pixels(tab, id)));
  now.forEach((value, at) => assert.notEqual(value, seen[at]));
  assert.equal(await tab.locator("#legend button").count(), 4);
  await tab.click("#back");
  await settled(tab);
  assert.equal(await pixels(tab, "scatter"), seen[0]);
  await tab.locator(".bars g[data-k='2']").click();
  await settled(tab);
  assert.equal(await tab.locator("#k-now").innerText(), "2");
}));

test("axis titles and tick labels of the figures do not overlap", () => quiet(iris.url, async (tab) => {
  const covered = await tab.evaluate(() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll("text")].filter((t) => !t.closest(".gap")).map((t) => [t.textContent, t.getBoundingClientRect()]);
    return boxes.flatMap(([a, one], at) => boxes.slice(at + 1)
      .filter(([, two]) => one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom)
      .map(([b]) => `${a} and ${b}`));
  }));
  assert.deepEqual(covered, []);
}));

test("a row under the pointer is marked in the other views", () => quiet(iris.url, async (tab) => {
  const [heat, silhouette] = [await pixels(tab, "heat"), await pixels(tab, "silhouette")];
  await findPoint(tab, "scatter", "tip");
  assert.match(await tab.locator("#tip").innerText(), /^row \d+, cluster \d/);
  await settled(tab);
  assert.notEqual(await pixels(tab, "heat"), heat);
  assert.notEqual(await pixels(tab, "silhouette"), silhouette);
  const [x, y] = await centre(tab, "heat");
  await tab.mouse.move(x, y + 31);
  await settled(tab);
  assert.match(await tab.locator("#heat-tip").innerText(), /similarity \d\.\d\d/);
  const scatter = await pixels(tab, "scatter");
  const button = tab.locator("#doubtful button").first();
  await button.scrollIntoViewIfNeeded();
  await button.hover();
  await settled(tab);
  assert.notEqual(await pixels(tab, "scatter"), scatter);
}));

test("rows are selected by table, drag and heat map, and deselected", () => quiet(iris.url, async (tab) => {
  const plain = await pixels(tab, "scatter");
  await tab.locator("#clusters button[data-cluster='1']").click();
  await settled(tab);
  assert.match(await tab.locator("#selected").innerText(), /\d+ of 150 rows selected: \d+ in cluster 1/);
  assert.notEqual(await pixels(tab, "scatter"), plain);
  assert.equal(await tab.locator("#clusters button[data-cluster='1']").getAttribute("aria-pressed"), "true");
  await tab.keyboard.press("Escape");
  await settled(tab);
  assert.ok(await tab.locator("#selected").isHidden());
  const [, , box] = await centre(tab, "scatter");
  await tab.mouse.move(box.x + 5, box.y + 5);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width - 5, box.y + box.height - 5, { steps: 4 });
  await tab.mouse.up();
  await settled(tab);
  assert.match(await tab.locator("#selected").innerText(), /150 of 150/);
  await tab.click("#clear");
  const [x, y] = await centre(tab, "heat");
  await tab.mouse.click(x, y);
  await settled(tab);
  assert.ok(await tab.locator("#selected").isVisible());
}));

test("axes, colours and orders change the drawing", () => quiet(iris.url, async (tab) => {
  let last = await pixels(tab, "scatter");
  for (const [id, value] of [["by", "class"], ["by", "silhouette"], ["by", { label: "confidence" }], ["by", { label: "petal_width" }],
    ["x", { label: "sepal_length" }], ["y", { label: "petal_length" }]]) {
    await change(tab, id, value);
    const now = await pixels(tab, "scatter");
    assert.notEqual(now, last, `${id} ${JSON.stringify(value)}`);
    last = now;
  }
  assert.equal(await tab.locator("#legend .ramp").count(), 1);
  const heat = await pixels(tab, "heat");
  await change(tab, "order", "class");
  const byClass = await pixels(tab, "heat");
  assert.notEqual(byClass, heat);
  await change(tab, "order", "confidence");
  assert.notEqual(await pixels(tab, "heat"), byClass);
}));

test("scatter plot and heat map work by keyboard, and every control has a name", () => quiet(iris.url, async (tab) => {
  await tab.locator("#scatter").focus();
  await tab.keyboard.press("ArrowRight");
  await settled(tab);
  assert.match(await tab.locator("#tip").innerText(), /^row \d+/);
  await tab.keyboard.press("Enter");
  await settled(tab);
  assert.ok(await tab.locator("#selected").isVisible());
  await tab.locator("#heat").focus();
  await tab.keyboard.press("ArrowDown");
  await settled(tab);
  assert.match(await tab.locator("#heat-tip").innerText(), /similarity/);
  const unnamed = await tab.evaluate(() => [...document.querySelectorAll("canvas, svg, select, input, button")].filter((e) =>
    !e.closest("[hidden]") && !(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length))).length);
  assert.equal(unnamed, 0, "every canvas, drawing and control has a name");
}));

test("text contrast is at least 4.5 in the light and the dark theme", () => quiet(iris.url, async (tab) => {
  const contrasts = () => tab.evaluate(() => {
    const read = (name) => {
      const e = document.body.appendChild(document.createElement("i"));
      e.style.color = `var(--${name})`;
      const rgb = getComputedStyle(e).color.match(/[\d.]+/g).slice(0, 3).map(Number);
      e.remove();
      return rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return ["text", "soft", "mark", "main"].flatMap((name) => ["ground", "raised"].map((under) => ratio(read(name), read(under))));
  });
  const ground = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const day = await ground();
  assert.ok(Math.min(...await contrasts()) >= 4.5, String(await contrasts()));
  await tab.click("#theme");
  await settled(tab);
  assert.notEqual(await ground(), day);
  assert.ok(Math.min(...await contrasts()) >= 4.5, String(await contrasts()));
}));

test("the page fits a phone and prints from the dark theme", async () => {
  const phone = await browser({ viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true });
  const { tab, seen } = await open(phone, iris.url);
  const [inner, whole] = await tab.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  assert.ok(whole <= inner, `${whole} of ${inner}`);
  await tab.locator("#scatter").scrollIntoViewIfNeeded();
  await tab.locator("#legend button").first().tap();
  await settled(tab);
  assert.ok(await tab.locator("#selected").isVisible());
  assert.deepEqual(seen, { requests: [], errors: [] });
  await phone.close();
  const dark = await browser({ colorScheme: "dark" });
  const night = await open(dark, iris.url);
  const before = await pixels(night.tab, "silhouette");
  assert.ok((await night.tab.pdf({ format: "A4" })).length > 50_000);
  await settled(night.tab);
  assert.equal(await pixels(night.tab, "silhouette"), before, "the dark theme is back after printing");
  await dark.close();
});

test("names in the data are shown as text, not HTML", async () => {
  const bad = "<script>window.hacked = 1</script>", image = "<img src=x onerror=window.hacked=2>";
  const end = "</script><script>alert(1)</script>";
  const rows = Array.from({ length: 90 }, (_, i) => `${(i % 3) * 9 + i / 50},${i % 7},"${[bad, image, end][i % 3]}"`);
  put("hostile.csv", `"${bad}","${image}","${end}"\n${rows.join("\n")}\n`);
  const hostile = page("hostile.html", "cluster", "hostile.csv", "-k", "3", "--label", "3", "-o", "l.csv");
  await quiet(hostile.url, async (tab) => {
    await change(tab, "by", "class");
    await change(tab, "x", { label: bad });
    await findPoint(tab, "scatter", "tip");
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    assert.equal(await tab.locator("img").count(), 0);
    assert.ok((await tab.locator("#agreement").innerText()).includes(end));
    assert.ok((await tab.locator("#tip").innerText()).includes("onerror") || (await tab.locator("#tip").innerText()).includes("script"));
  });
});

// Every place a name can come from: file, columns, classes. Each would set window.hacked in its own way.
test("the security policy reports nothing on the page and stops what is injected", async () => {
  const names = ["<img src=x onerror=window.hacked=1>", "\" onmouseover=\"window.hacked=2", "</style><script>window.hacked=3</script>",
    "javascript:window.hacked=4", "</title><svg onload=window.hacked=5>", "\u202egnp\u001b[2J", "<b style=color:red>x</b>"];
  const cell = (text) => `"${text.replaceAll('"', '""')}"`;
  const rows = Array.from({ length: 140 }, (_, i) =>
    [...names.map((_, j) => (i % 7) * (j + 2) + ((i * 37) % 11) / 9), cell(names[i % 7])].join(","));
  const file = "<img src=x onerror='window.hacked=6'>.csv";
  put(file, `${names.map(cell).join(",")},class\n${rows.join("\n")}\n`);
  const made = page("policy.html", "cluster", file, "-k", "7", "--label", "class", "-o", "l.csv");
  const { tab, seen } = await open(context, made.url);
  const violations = () => tab.evaluate(() => window.violations ?? []);
  await tab.evaluate(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.sample}`));
  });
  for (const name of names.slice(0, 2)) await change(tab, "x", { label: name });
  await change(tab, "by", "class");
  await findPoint(tab, "scatter", "tip");
  await tab.locator("#clusters button[data-cluster='1']").click();
  await tab.click("#theme");
  await settled(tab);
  assert.deepEqual(await violations(), []);
  assert.deepEqual(seen, { requests: [], errors: [] });
  assert.equal(await tab.locator("img, b[style], svg[onload]").count(), 0);
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  // The bars and dots of the table have the sizes and colours of the style sheet.
  const bars = await tab.evaluate(() => [...document.querySelectorAll(".clusters .bar")].map((e) => [e.offsetWidth, getComputedStyle(e).backgroundColor]));
  assert.ok(bars.length === 7 && bars.every(([width, colour]) => width > 2 && colour !== "rgba(0, 0, 0, 0)"), JSON.stringify(bars));
  // Markup that got in would do nothing: neither handlers nor scripts nor requests.
  await tab.evaluate(() => {
    const box = document.body.appendChild(document.createElement("div"));
    box.innerHTML = "<img src='data:,' onerror='window.hacked=7'><a id=trap onclick='window.hacked=8' style='color:red'>x</a>";
    document.getElementById("trap").click();
    const script = document.createElement("script");
    script.textContent = "window.hacked = 9";
    document.body.appendChild(script);
    document.body.appendChild(document.createElement("img")).src = "http://127.0.0.1:9/x.png";
  });
  await settled(tab);
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  const stopped = (await violations()).join("\n");
  for (const directive of ["script-src", "style-src-attr", "img-src"]) assert.ok(stopped.includes(directive), stopped);
  await tab.close();
});

test("the page of a sweep shows its map", async () => {
  const sweep = page("sweep.html", "sweep", "iris.csv", "-k", "3", "--label", "species");
  await quiet(sweep.url, async (tab) => {
    assert.ok(await tab.locator("#sweep svg").isVisible());
    assert.ok(await tab.locator("#sweep rect title").count() > 150);
  });
});

test("one row, one column and a precomputed matrix have a page without errors", async () => {
  put("two.csv", "1\n2\n");
  put("one.csv", "5,6\n");
  put("similar.csv", "1,0.9,0,0\n0.9,1,0.1,0\n0,0.1,1,0.8\n0,0,0.8,1\n");
  for (const words of [["two.csv", "-k", "2"], ["two.csv", "-k", "1"], ["one.csv", "-k", "1"], ["similar.csv", "-k", "2", "--precomputed"],
    ["iris.csv", "-k", "60", "--label", "5", "--min-node", "3"]]) {
    await quiet(page("odd.html", "cluster", ...words, "-o", "l.csv").url);
  }
});

// A million rows with the fastest settings: the page is tested here, not the clustering.
const QUICK = ["--trees", "10", "--min-node", "50000", "--affinity", "linear", "--solver", "nystrom", "--landmarks", "40"];
for (const [n, ...options] of [[50], [5000], [1_000_000, ...QUICK]]) {
  test(`the page of ${n} rows is below 5 MB, opens in 15 s and states its sample`, async () => {
    blobs("blobs.csv", n);
    const made = page("blobs.html", "cluster", "blobs.csv", "-k", "3", "-o", "l.csv", ...options);
    assert.ok(made.bytes < 5_000_000, `${made.bytes} bytes`);
    const from = Date.now();
    await quiet(made.url, async (tab) => {
      const seconds = (Date.now() - from) / 1000;
      assert.ok(seconds < 15, `${seconds} s to open`);
      const words = await tab.locator("#embedding p").first().innerText();
      assert.equal(words.includes(`of ${n} rows`), n > 3000);
      const whole = await tab.locator("#k-words").innerText();
      assert.equal(whole.includes("silhouette of a sample of"), n > 3000, whole);
      assert.match(whole, /Shares of the rows/);
      await tab.locator("#k").focus();
      await tab.keyboard.press("ArrowRight");
      await settled(tab);
      assert.equal(await tab.locator("#k-now").innerText(), "4");
      assert.equal((await tab.locator("#k-words").innerText()).includes("Shares of a sample of"), n > 3000);
      await tab.locator("#clusters button[data-cluster='0']").click();
      await settled(tab);
      assert.equal((await tab.locator("#selected").innerText()).includes("of a sample of"), n > 3000);
      console.log(`# ${n} rows: ${(made.bytes / 1e6).toFixed(2)} MB, ${seconds.toFixed(1)} s to open`);
    });
  });
}
