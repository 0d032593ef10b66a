// Starts the views; redraws them when the window size or the theme changes and for printing.
scatter();
heat();
silhouette();
slider();
selection();
const root = document.documentElement;
const night = window.matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.style.colorScheme || (night.matches ? "dark" : "light")) === "dark";
const name = () => { $("theme").textContent = dark() ? "Light" : "Dark"; };
$("theme").hidden = false;
$("theme").addEventListener("click", () => { root.style.colorScheme = dark() ? "light" : "dark"; name(); change({}); });
night.addEventListener("change", () => { name(); change({}); });
window.addEventListener("resize", () => change({}));
let before = "";
window.addEventListener("beforeprint", () => { before = root.style.colorScheme; root.style.colorScheme = "light"; drawAll(); });
window.addEventListener("afterprint", () => { root.style.colorScheme = before; drawAll(); });
name();
drawAll();
