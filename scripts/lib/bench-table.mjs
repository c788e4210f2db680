/** Numbers into Markdown. Pure. */

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `median 1.03 (least 0.99, most 1.08; 1.01 1.03 …)` */
export function describeRatios(ratios) {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  const all = ratios.map((ratio) => ratio.toFixed(3)).join(" ");
  return `median ${median(ratios).toFixed(3)}, least ${least.toFixed(3)}, most ${most.toFixed(3)} (${all}).`;
}

/** Size as JSON without indentation. */
export const bytesOf = (value) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map(line).join("\n");
}

/** Rows for every part, one or two levels deep, whose size differs: its name, both sizes, the difference. */
export function differences(ours, theirs) {
  const parts = (value) =>
    Object.entries(value).flatMap(([key, entry]) =>
      typeof entry === "object" && entry !== null && !Array.isArray(entry)
        ? Object.entries(entry).map(([inner, content]) => [`${key}.${inner}`, sizeOf(inner, content)])
        : [[key, sizeOf(key, entry)]],
    );
  const [left, right] = [new Map(parts(ours)), new Map(parts(theirs))];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  return names
    .map((name) => [name, left.get(name) ?? 0, right.get(name) ?? 0])
    .filter(([, a, b]) => a !== b)
    .map(([name, a, b]) => [`\`${name}\``, a, b, a > b ? `+${a - b}` : a - b]);
}

/** With its key and the comma. */
const sizeOf = (key, value) => bytesOf({ [key]: value }) - 1;
