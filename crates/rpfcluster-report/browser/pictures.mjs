// Takes the pictures of the report page for the documentation: `node pictures.mjs FOLDER`.

import { join } from "node:path";
import { browser, open, page, settled } from "./harness.mjs";

const folder = process.argv[2];
const shot = (tab, name, options = {}) => tab.screenshot({ path: join(folder, `${name}.png`), ...options });
const part = async (tab, id, name) => {
  const element = tab.locator(`#${id}`);
  await element.scrollIntoViewIfNeeded();
  await settled(tab);
  await element.screenshot({ path: join(folder, `${name}.png`) });
};
const iris = page("iris.html", "cluster", "iris.csv", "-k", "3", "--label", "species", "-o", "labels.csv");
const sweep = page("sweep.html", "sweep", "iris.csv", "-k", "3", "--label", "species");

const light = await browser({ colorScheme: "light", viewport: { width: 1180, height: 860 } });
let { tab } = await open(light, iris.url);
await shot(tab, "report");
await part(tab, "number", "report-number");
await part(tab, "clusters", "report-clusters");
await part(tab, "silhouettes", "report-silhouette");
await part(tab, "doubtful", "report-doubtful");
await part(tab, "eigenvalues", "report-eigenvalues");
await tab.locator("#clusters button[data-cluster='1']").click();
await tab.evaluate(() => { document.getElementById("selected").style.position = "static"; });
await settled(tab);
await tab.locator(".pair").nth(1).screenshot({ path: join(folder, "report-selected.png") });
await tab.close();
({ tab } = await open(light, sweep.url));
await part(tab, "sweep", "report-sweep");
if (process.argv[3]) {
  // A second argument adds the whole page, on a phone too, and its printed form.
  ({ tab } = await open(light, iris.url));
  await shot(tab, "whole", { fullPage: true });
  await tab.pdf({ path: join(folder, "print.pdf"), format: "A4", margin: { top: "1cm", bottom: "1cm", left: "1cm", right: "1cm" } });
}
await light.close();

if (process.argv[3]) {
  const phone = await browser({ colorScheme: "light", viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 1 });
  ({ tab } = await open(phone, iris.url));
  await shot(tab, "whole-phone", { fullPage: true });
  await phone.close();
}
