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
