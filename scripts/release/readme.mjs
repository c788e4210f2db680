/** The README of an SDK. */
import { exampleOf } from "../lib/examples.mjs";

const EXAMPLES = { python: "python", nodejs: "typescript" };

/** @param language of the SDK. @param facts of the release. */
export function readmeOf(language, { version, repository }) {
  const install = `pulumi plugin install resource advertising ${version}`;
  const plugin = repository
    ? `Pulumi installs the plugin when it first needs it, from ${repository}/releases.`
    : `Install the plugin from its archive:

\`\`\`sh
${install} --file <archive>
\`\`\``;
  const more = repository ? [`Documentation: ${repository}#readme`] : [];
  return [
    "# Advertisers and conversion events of an advertising platform, for Pulumi",
    plugin,
    "Settings of the stack:",
    `\`\`\`sh
pulumi config set advertising:baseUrl https://platform.example.com
pulumi config set advertising:email you@example.com
pulumi config set --secret advertising:password
\`\`\``,
    exampleOf(EXAMPLES[language], "ConversionEvent"),
    ...more,
    "",
  ].join("\n\n");
}
