/** The READMEs of a release and of the SDKs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inRoot, readJson } from "../lib/base.mjs";
import { exampleOf, examplePath } from "../lib/examples.mjs";
import { GO_MODULE } from "./facts.mjs";
import { TITLE } from "./folder.mjs";
import { placeOf } from "./layout.mjs";

const EXAMPLES = { python: "python", nodejs: "typescript", go: "go" };

const OWN_PAGES = "the folder `docs` in the plugin's archive.";

/** @param language of the SDK. @param facts of the release. */
export function readmeOf(language, facts) {
  const { version, repository } = facts;
  const install = `pulumi plugin install resource advertising ${version}`;
  const plugin = repository
    ? `Pulumi installs the plugin when it first needs it, from ${repository}/releases.`
    : `Install the plugin from its archive:

\`\`\`sh
${install} --file <archive>
\`\`\``;
  const more = `Documentation: ${repository ? `${repository}#readme` : OWN_PAGES}`;
  return [
    "# Advertisers and conversion events of an advertising platform, for Pulumi",
    plugin,
    "Settings of the stack:",
    `\`\`\`sh
pulumi config set advertising:baseUrl https://platform.example.com
pulumi config set advertising:email you@example.com
pulumi config set --secret advertising:password
\`\`\``,
    exampleOf(EXAMPLES[language], EXAMPLE).replace(GO_MODULE, facts.goModule),
    ...(language === "go" ? [goCommands(facts)] : []),
    more,
    "",
  ].join("\n\n");
}

/** The folder in the archive of the Go module. */
export const GO_FOLDER = "advertising";
export const goArchive = ({ version }) => `pulumi-advertising-sdk-go-${version}.tar.gz`;

/** The commands that bring the SDK into a program's module. */
function goCommands({ goModule }) {
  return `\`go get\` doesn't find the module \`${goModule}\`. So name this folder in your program's \`go.mod\`, with an absolute path:

\`\`\`sh
go mod edit -replace=${goModule}=<this folder>
go mod tidy
\`\`\``;
}

/** @param facts of the release. @returns the program in the README of the SDK for Go. */
export const goProgram = ({ goModule }) => programIn("go").replace(GO_MODULE, goModule);

const EXAMPLE = "ConversionEvent";
const programIn = (language) => readFileSync(examplePath(language, EXAMPLE), "utf8").trim();

const CHECKING = "`sha256sum --check SHA256SUMS` checks the files.";
const DOWNLOADING = `Download this file, \`SHA256SUMS\` and what your language's commands name into one folder.
\`sha256sum --check --ignore-missing SHA256SUMS\` checks them.`;

/** @returns shell commands that write a file. */
const writing = (file, text) => `cat > ${file} <<'END'\n${text}\nEND`;

/**
 * Writes README.md: from the files of the release to a first preview, in each language. @param facts of the release.
 * @param isFlat whether all files lie in one folder.
 */
export function writeReadme({ facts, out, isFlat = false }) {
  const { version } = facts;
  const { engines, peerDependencies } = readJson(inRoot("provider", "package.json"));
  const node = engines.node.slice(2);
  const { python } = readJson(inRoot("provider", "schema.json")).language;
  const pulumi = peerDependencies["@pulumi/pulumi"].slice(1);
  const npmPackage = `"$release"/pulumi-advertising-${version}.tgz`;
  const project = (runtime) => `name: shop\nruntime: ${runtime}`;
  const typescript = programIn("typescript").replace("advertising-sdk", "advertising");
  const installPlugin = `pulumi plugin install resource advertising ${version} \\
  --file "$release"/pulumi-resource-advertising-v${version}-linux-amd64.tar.gz`;
  const wheel = placeOf(`pulumi_advertising-${version}-py3-none-any.whl`, isFlat);
  const go = isFlat
    ? `For Go, unpack \`${goArchive(facts)}\`; the \`README.md\` in it goes on from there.`
    : `For Go, see \`go/${GO_FOLDER}/README.md\`.`;
  const text = `${TITLE}${version}

Advertisers and conversion events of an advertising platform, for Pulumi. You need the Pulumi CLI ${pulumi} or later.
${isFlat ? DOWNLOADING : CHECKING}

Below, a sandbox on your machine stands in for the platform. A preview sends nothing, so it needs neither sandbox nor platform.

## Start

In the folder of this file:

\`\`\`sh
release="$PWD"
mkdir ../shop && cd ../shop
export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=sandbox
\`\`\`

The \`export\` keeps the state in the new folder. Then, for your language:

**YAML.** You need nothing else. Name your system's archive.

\`\`\`sh
${installPlugin}
${writing("Pulumi.yaml", `${project("yaml")}\n${programIn("yaml")}`)}
\`\`\`

**Python** ${python.pythonRequires.slice(2)} or later. Name your system's archive.

\`\`\`sh
${installPlugin}
python3 -m venv venv && . venv/bin/activate
pip install pulumi "$release"/${wheel}
${writing("Pulumi.yaml", project("python"))}
${writing("__main__.py", programIn("python"))}
\`\`\`

**TypeScript**, with Node.js ${node} or later.

\`\`\`sh
echo '{ "private": true }' > package.json
npm install @pulumi/pulumi ${npmPackage}
${writing("Pulumi.yaml", project("nodejs"))}
${writing("index.ts", typescript)}
\`\`\`

In each language:

\`\`\`sh
pulumi stack init dev
pulumi config set-all --plaintext advertising:baseUrl=http://127.0.0.1:8787 \\
  --plaintext advertising:email=ops@example.com --secret advertising:password=sandbox-password
pulumi preview
\`\`\`

## Apply

The sandbox needs Node.js ${node} or later. In a second terminal, with the same \`release\`; it keeps running:

\`\`\`sh
npx --yes --package ${npmPackage} advertising-sandbox --port 8787
\`\`\`

Then \`pulumi up\`. For your own account, set \`baseUrl\`, \`email\` and \`password\`. By default nothing can be changed or deleted on the
platform: read \`docs/guarantees.md\` first. The folder \`docs\`, with every setting, command and error code, is in the plugin's archive, which Pulumi
installs into \`~/.pulumi/plugins/resource-advertising-v${version}\`, and in the npm package.

## Other languages

${go} \`${placeOf(`pulumi-advertising-sdk-${version}.tgz`, isFlat)}\` has the plugin's resources
for Node.js, and the \`.nupkg\`, if there is one, those for C#. They need the plugin too.
`;
  writeFileSync(join(out, "README.md"), text);
}
