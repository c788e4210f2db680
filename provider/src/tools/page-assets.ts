/** The page's style: light and dark, wide and narrow, on screen and on paper. No address in it leads anywhere. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--row:#f6f8fa;--accent:#0550ae;--bar:#0969da;--track:#d8dee4;--warn:#9a3412;--warnbg:#fff4e5}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#a5afba;--line:#3d444d;--row:#161b22;--accent:#79c0ff;--bar:#58a6ff;--track:#30363d;--warn:#ffb77c;--warnbg:#2d1f0f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1400px;padding:1rem;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .5rem}
p{margin:.3rem 0}.soft{color:var(--soft)}
bdi,code{overflow-wrap:anywhere}.cards :is(th[scope=row],[data-label=Name],[data-label=Advertiser]){min-width:9.5rem}code{font:.9em ui-monospace,monospace}
a{color:var(--accent)}
.tools{position:sticky;top:0;background:var(--bg);padding:.5rem 0;display:flex;gap:.8rem;align-items:center;flex-wrap:wrap;z-index:1}
.tools label{font-weight:600}
input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:6px;padding:.45rem .6rem;width:min(24rem,100%)}
button{font:inherit;font-size:.85em;color:var(--accent);background:var(--bg);border:1px solid var(--accent);border-radius:6px;padding:.25rem .6rem;min-height:28px;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;width:100%}
caption{text-align:start;color:var(--soft);padding:.2rem 0}
th,td{border-bottom:1px solid var(--line);padding:.4rem .5rem;text-align:start;vertical-align:top}
tbody tr:nth-child(even){background:var(--row)}
th{font-weight:600}thead th{color:var(--soft);font-size:.85rem}
.num{text-align:end;font-variant-numeric:tabular-nums}
.id{white-space:nowrap}
.open{background:var(--warnbg);border:1px solid var(--warn);border-radius:8px;padding:.6rem 1rem}
.open h2{margin-top:.2rem;color:var(--warn)}
.gap{color:var(--warn);font-weight:600}
.bar{display:block;width:6rem;max-width:100%;height:.55rem;border-radius:3px;background:var(--track);margin-top:.25rem}
.bar i{display:block;height:100%;border-radius:3px;background:var(--bar)}
.scroll{overflow-x:auto}
[hidden]{display:none!important}
@media (max-width:1200px){
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards,.cards caption,.cards tr,.cards td,.cards th{display:block;width:100%}
.cards tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:.6rem}
.cards tr{border:1px solid var(--line);border-radius:8px;padding:.3rem .4rem}
.cards td,.cards th{border:0;padding:.2rem .3rem}
.cards td::before{content:attr(data-label) ": ";color:var(--soft);font-size:.85em}
.cards .num{text-align:start}
}
@media print{
:root{--bg:#fff;--fg:#000;--soft:#333;--line:#999;--row:#fff;--bar:#333;--track:#ddd;--warn:#000;--warnbg:#fff}
.tools,button{display:none}body{max-width:none;font-size:10pt}tr{break-inside:avoid}thead{display:table-header-group}
.bar,.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
`;

/** The page's script: the filter, and the buttons that copy an id. Without it, the page still shows everything. */
export const SCRIPT = `
"use strict";
const rows = [...document.querySelectorAll("[data-row]")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
const filter = document.getElementById("filter");
const said = document.getElementById("said");
const apply = () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
  let shown = 0;
  for (const { row, text } of rows) {
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) shown++;
  }
  said.textContent = words.length === 0 ? "" : shown + " of " + rows.length + " shown";
};
filter.addEventListener("input", apply);
filter.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  filter.value = "";
  apply();
});
apply();
// A page that was opened as a file may have no clipboard of its own.
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (!isCopied) throw new Error("no clipboard");
  }
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-id]");
  if (button === null) return;
  copy(button.dataset.id).then(
    () => { said.textContent = "Copied " + button.dataset.id; button.focus(); },
    () => { said.textContent = "This browser does not let the page copy: select the id by hand"; },
  );
});
`;
