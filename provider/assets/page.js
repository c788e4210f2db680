// The filter, sorting, and the buttons that copy an id. Without it, the page still shows everything.
"use strict";
const rows = [...document.querySelectorAll("[data-row]")];
const texts = new Map(
  rows.map((row) => [
    row,
    [...row.cells]
      .map((cell) => cell.textContent)
      .join(" ")
      .toLowerCase(),
  ]),
);
const said = document.getElementById("said");
document.getElementById("filter").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/);
  for (const row of rows)
    row.hidden = !words.every((word) => texts.get(row).includes(word));
  for (const section of document.querySelectorAll("section"))
    section.hidden = !section.querySelector("[data-row]:not([hidden])");
  said.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
});
const { compare } = new Intl.Collator(undefined, { numeric: true });
const inOrder = (a, b) => a - b || compare(a, b);
for (const heading of document.querySelectorAll("th")) {
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  heading.append(button);
  button.addEventListener("click", () => {
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
    const body = heading.closest("table").tBodies[0];
    const column = heading.cellIndex;
    const sorted = [...body.rows].sort((one, other) => {
      const [a, b] = [one, other].map((row) => row.cells[column].textContent);
      return !a - !b || direction * inOrder(a, b);
    });
    body.append(...sorted);
  });
}
for (const cell of document.querySelectorAll("[data-copied]")) {
  const id = cell.textContent;
  const button = document.createElement("button");
  Object.assign(button, {
    textContent: "Copy",
    ariaLabel: `Copy the id ${id} of ${cell.parentNode.cells[0].textContent}`,
  });
  cell.append(button);
  button.addEventListener("click", async () => {
    const copied = navigator.clipboard?.writeText(id) ?? Promise.reject();
    await copied.then(
      () => {
        said.textContent = `Copied ${id}`;
      },
      () => {
        said.textContent = "Select the id by hand";
      },
    );
  });
}
