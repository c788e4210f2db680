import { execFileSync } from "node:child_process";
import { newStack } from "./bench-stack.mjs";
import { median, table } from "./bench-table.mjs";
import { inRoot } from "./paths.mjs";

/** What importing the package adds, and how long Pulumi takes to begin a program, by how its TypeScript is read. */
export async function measureStart({ cli, folder, address, rounds }) {
  const importing = (name) => {
    const script = `const begin = performance.now(); require(${JSON.stringify(name)}); console.log(performance.now() - begin)`;
    return Number(
      execFileSync(process.execPath, ["-e", `require("@pulumi/pulumi"); ${script}`], { cwd: inRoot("provider") }),
    );
  };
  const imports = ["pulumi-advertising", "pulumi-advertising/handlers"].map((name) => [
    `\`${name}\`, beside @pulumi/pulumi`,
    `${median(Array.from({ length: rounds * 3 }, () => importing(name))).toFixed(0)} ms`,
  ]);

  const typed = `import * as advertising from "pulumi-advertising";\nnew advertising.Advertiser("a", { advertiserName: "A" });\n`;
  const programs = {
    JavaScript: {
      files: {
        "index.js": `const { Advertiser } = require("pulumi-advertising");\nnew Advertiser("a", { advertiserName: "A" });\n`,
      },
    },
    "TypeScript by ts-node, as Pulumi does by itself": { files: { "index.ts": typed } },
    "TypeScript by Node.js, types stripped": {
      files: { "index.ts": typed },
      options: { typescript: false, nodeargs: "--experimental-strip-types --no-warnings" },
    },
  };
  const rows = [];
  for (const [name, { files, options = {} }] of Object.entries(programs)) {
    const main = Object.keys(files)[0];
    const runtime = Object.entries(options).map(([key, value]) => `\n    ${key}: ${JSON.stringify(value)}`);
    const project = `name: bench\nruntime:\n  name: nodejs\n  options:${runtime.length === 0 ? " {}" : runtime.join("")}\nmain: ${main}\n`;
    const tsconfig = { compilerOptions: { strict: true, target: "es2023", module: "nodenext", skipLibCheck: true } };
    const manifest = { name: "bench", private: true, type: options.typescript === false ? "module" : "commonjs" };
    const stack = await newStack({
      cli,
      folder,
      address,
      files: {
        ...files,
        "Pulumi.yaml": project,
        "tsconfig.json": JSON.stringify(tsconfig),
        "package.json": JSON.stringify(manifest),
      },
    });
    const seconds = [];
    for (let round = -1; round < rounds; round++) {
      const took = (await stack.measure("preview")).seconds;
      if (round >= 0) seconds.push(took);
    }
    console.log(`  ${name}: ${median(seconds).toFixed(2)} s`);
    rows.push([name, `${median(seconds).toFixed(2)} s`]);
  }
  return `${table(["importing", "median"], imports)}\n\n${table(["a preview of one advertiser", "median"], rows)}`;
}
