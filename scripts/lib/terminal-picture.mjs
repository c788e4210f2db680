/** What a program printed to a terminal, as a picture. Pure. */

/** Colours of a 256-colour terminal that Pulumi uses, as class names below. */
const COLOURS = { 1: "red", 2: "green", 3: "yellow", 5: "magenta", 12: "blue", 13: "magenta" };

// biome-ignore lint/suspicious/noControlCharactersInRegex: reading a terminal's control characters is the purpose
const TOKEN = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[([?\d;]*)([A-Za-z])|[\s\S]/gu;

/** The rows that are left on the screen at the end: lists of `{ character, style }`, blank rows around them left out. */
export function screenOf(output) {
  const rows = [[]];
  let [row, column, style] = [0, 0, ""];
  for (const [token, parameters = "", command] of output.matchAll(TOKEN)) {
    if (token === "\n") row++;
    else if (token === "\r") column = 0;
    else if (command === "A") row = Math.max(0, row - (Number(parameters) || 1));
    else if (command === "K") rows[row]?.splice(column);
    else if (command === "m") style = styleAfter(style, parameters);
    else if (!token.startsWith("\u001b")) {
      rows[row][column] = { character: token, style };
      column++;
    }
    while (rows.length <= row) rows.push([]);
  }
  const isBlank = (cells) => !cells.some((cell) => cell !== undefined && cell.character !== " ");
  while (rows.length > 0 && isBlank(rows[0])) rows.shift();
  while (rows.length > 0 && isBlank(rows.at(-1))) rows.pop();
  return rows;
}

function styleAfter(style, parameters) {
  if (parameters === "" || parameters === "0") return "";
  const colour = /^38;5;(\d+)$/.exec(parameters)?.[1];
  const others = (pattern) => style.split(" ").filter((name) => name !== "" && !pattern.test(name));
  if (colour !== undefined) return [...others(/red|green|yellow|magenta|blue/), COLOURS[colour] ?? ""].join(" ").trim();
  const added = { 1: "bold", 4: "underline" }[parameters];
  return added === undefined ? style : [...others(new RegExp(added)), added].join(" ");
}

const [CHARACTER_WIDTH, LINE_HEIGHT, MARGIN] = [7.8, 18, 16];

/** @param command what was typed; stands above the screen. */
export function svgOf(command, screen) {
  const prompt = [...`$ ${command}`].map((character) => ({ character, style: "bold" }));
  const rows = [prompt, ...screen];
  const width = Math.ceil(Math.max(...rows.map((cells) => cells.length)) * CHARACTER_WIDTH) + 2 * MARGIN;
  const height = rows.length * LINE_HEIGHT + 2 * MARGIN;
  const lines = rows.map((cells, index) => lineOf(cells, MARGIN + (index + 0.75) * LINE_HEIGHT)).filter(Boolean);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(command)}</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
.bold { font-weight: bold } .underline { text-decoration: underline }
.red { fill: #cf222e } .green { fill: #116329 } .yellow { fill: #7d4e00 } .blue { fill: #0550ae } .magenta { fill: #8250df }
@media (prefers-color-scheme: dark) {
rect { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
.red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .blue { fill: #79c0ff } .magenta { fill: #d2a8ff }
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${lines.join("\n")}
</svg>
`;
}

/** Each word begins at its own place, so that columns stand right whatever font the reader has. */
function lineOf(cells, y) {
  const words = [];
  for (const [column, { character, style } = { character: " " }] of cells.entries()) {
    if (character === " ") continue;
    const last = words.at(-1);
    const gap = last === undefined ? 2 : column - last.end;
    if (gap < 2 && last.style === style) {
      last.text += " ".repeat(gap) + character;
      last.end = column + 1;
    } else words.push({ column, style, text: character, end: column + 1 });
  }
  const texts = words.map(({ column, style, text }) => {
    const kind = style === "" ? "" : ` class="${style}"`;
    return `<tspan x="${(MARGIN + column * CHARACTER_WIDTH).toFixed(1)}"${kind}>${escaped(text)}</tspan>`;
  });
  return texts.length === 0 ? "" : `<text y="${y}">${texts.join("")}</text>`;
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
