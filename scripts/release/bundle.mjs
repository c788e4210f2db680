/** Bundles the plugin, the command `pulumi-advertising`, and all that they load, into one file. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { inRoot, readJson } from "../lib/base.mjs";

const ASSETS = ["assets/page.html", "assets/page.css", "assets/page.js"];
const ENTRY = "bundle-entry";

/** The engine starts the plugin with its own address; anything else is a user's command. */
const entryText = () => `
if (/:\\d+$/.test(process.argv[2] ?? "")) require(${text(inDist("plugin", "command.js"))});
else require(${text(inDist("cli", "command.js"))});
`;

/** The page in the archive: where no repository is known, its readers may have no other. */
const OWN_PAGE = 'require("node:path").join(__dirname, "docs", "messages.md")';

/** What `base/packaging.ts` says, for code that has no files beside it. */
function packagingText({ version, messagesPage }, schema) {
  const assets = ASSETS.map((file) => {
    return [file, readFileSync(inRoot("provider", file), "utf8")];
  });
  const files = Object.fromEntries([["schema.json", schema], ...assets]);
  return `
const files = ${text(files)};
exports.COMMAND = ${text(`pulumi plugin run --kind resource advertising@${version} --`)};
exports.MESSAGES_PAGE = ${messagesPage ? text(messagesPage) : OWN_PAGE};
exports.readFromPackage = (file) => files[file];
exports.packageVersion = () => ${text(version)};
`;
}

/** @param file to write. @param facts of the release. @returns the licenses of what is in it, as text. */
export async function writeBundle(file, { facts, schema }) {
  const packaging = inDist("base", "packaging.js");
  const ownModules = {
    name: "own-modules",
    resolveId: (id) => (id === ENTRY ? id : undefined),
    load(id) {
      if (id === ENTRY) return entryText();
      return id === packaging ? packagingText(facts, schema) : undefined;
    },
  };
  const bundle = await rolldown({
    input: ENTRY,
    platform: "node",
    plugins: [ownModules],
    onLog: (level, { message }) => {
      throw new Error(`${level}: ${message}`);
    },
  });
  const { output } = await bundle.write({
    file,
    format: "cjs",
    codeSplitting: false,
    minify: false, // stack traces stay readable
    comments: { legal: false },
  });
  await bundle.close();
  return licensesOf(output[0].moduleIds);
}

/** @param paths of the bundle's modules. */
function licensesOf(paths) {
  const folderOf = (path) =>
    /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0];
  const folders = new Set(paths.map(folderOf).filter(Boolean));
  return [...folders].sort().map(licenseIn).join("\n\n");
}

function licenseIn(folder) {
  const { name, version, license } = readJson(join(folder, "package.json"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`${name} ${version}: ${license}`, ...texts].join("\n\n");
}

const inDist = (...parts) => inRoot("provider", "dist", ...parts);
const text = (value) => JSON.stringify(value);
