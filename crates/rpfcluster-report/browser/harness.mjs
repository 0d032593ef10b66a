// Shared by the tests of the page and the pictures of the documentation: a temporary folder with data, pages written by
// `rpf`, and a browser whose network requests and console errors are recorded.

import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const RPF = process.env.RPF || "rpf";
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const IRIS = new URL("../../rpfcluster-data/data/iris.csv", import.meta.url);

export const folder = mkdtempSync(join(tmpdir(), "rpf-pages-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const put = (name, text) => writeFileSync(join(folder, name), text);
put("iris.csv", readFileSync(IRIS));

// Uniform numbers from 0 to 1 by a linear congruential generator, so that every run has the same data.
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

// Writes `n` rows in three round clusters.
export function blobs(name, n) {
  const next = uniform(n), file = openSync(join(folder, name), "w");
  let text = "width,height,weight\n";
  for (let i = 0; i < n; i++) {
    const group = i % 3, noise = () => (next() + next() + next() - 1.5) * 2;
    text += `${(group * 4 + noise()).toFixed(3)},${((group === 1 ? 5 : 0) + noise()).toFixed(3)},${(noise() * 3).toFixed(3)}\n`;
    if (text.length > 1 << 20) { writeSync(file, text); text = ""; }
  }
  writeSync(file, text);
  closeSync(file);
}

// Runs `rpf` in the folder and returns the address and the size of the page it wrote.
export function page(name, ...words) {
  execFileSync(RPF, [...words, "--report", name], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  return { url: pathToFileURL(join(folder, name)).href, bytes: statSync(join(folder, name)).size };
}

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--force-color-profile=srgb"];

// Starts a browser with a temporary profile.
export function browser(options = {}) {
  const profile = mkdtempSync(join(folder, "profile-"));
  return chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM, headless: true, args: FLAGS, viewport: { width: 1280, height: 900 }, ...options,
  });
}

// Opens a page and records its requests and its errors, warnings and dialogs.
export async function open(context, url) {
  const tab = await context.newPage();
  const seen = { requests: [], errors: [] };
  tab.on("request", (request) => { if (request.url() !== url && !request.url().startsWith("data:")) seen.requests.push(request.url()); });
  tab.on("console", (message) => { if (["error", "warning"].includes(message.type())) seen.errors.push(message.text()); });
  tab.on("pageerror", (error) => seen.errors.push(String(error)));
  tab.on("dialog", (dialog) => { seen.errors.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await tab.goto(url);
  await settled(tab);
  return { tab, seen };
}

// Waits two animation frames: every drawing that was requested is then on the canvas.
export const settled = (tab) => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// A hash of a canvas and the number of its colours. Reads a copy, since the browser warns when a canvas that is drawn on
// is read.
const summary = (tab, id) => tab.evaluate((id) => {
  const canvas = document.getElementById(id);
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const words = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  let sum = 7;
  for (const word of words) sum = (Math.imul(sum, 31) + word) | 0;
  return { sum, colours: new Set(words).size };
}, id);
export const pixels = async (tab, id) => (await summary(tab, id)).sum;
export const colours = async (tab, id) => (await summary(tab, id)).colours;
