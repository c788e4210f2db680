/** Reads and writes tar archives. What is written depends on nothing but the entries: no owner, no time. */

const BLOCK = 512;

/** @returns the content of the file whose path ends so, undefined if there is none. */
export function fileIn(tar, ending) {
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const field = (from, length) =>
      tar.toString("latin1", at + from, at + from + length).replace(/\0.*/s, "");
    const size = Number.parseInt(field(124, 12), 8);
    const start = at + BLOCK;
    const path = `${field(345, 155)}/${field(0, 100)}`;
    if (field(156, 1) === "0" && path.endsWith(ending))
      return tar.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

/** @param entries `{ name, content, isExecutable }`; names have at most 100 characters. */
export function tarOf(entries) {
  const blocks = entries.flatMap(({ name, content, isExecutable }) => {
    const bytes = Buffer.from(content);
    const padding = Buffer.alloc(-bytes.length & (BLOCK - 1));
    return [headerOf(name, bytes.length, isExecutable ? 0o755 : 0o644), bytes, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(name, size, mode) {
  const header = Buffer.alloc(BLOCK);
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write("        0", 148);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(octal(sum, 7), 148);
  return header;
}
