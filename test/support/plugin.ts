/** Programs that use the plugin as a generated SDK does: its resources by their tokens, with the ids as outputs. */

const OUTPUTS = {
  Advertiser: "advertiserId",
  ConversionEvent: "eventId",
  ConversionEventSet: "eventIds",
};

const classes = Object.entries(OUTPUTS).map(
  ([name, id]) =>
    `${name}: class extends pulumi.CustomResource {
    constructor(name, args, options) { super("advertising:index:${name}", name, { ${id}: undefined, ...args }, options); }
  },`,
);

/** A program for the classes, as {@link file://./stack.ts} makes it, for the plugin instead. */
export function throughPlugin(program: string): string {
  const plugin = `const advertising = {
  ${classes.join("\n  ")}
  Provider: class extends pulumi.ProviderResource { constructor(name, args) { super("advertising", name, args); } },
};`;
  return program.replace('const advertising = require("pulumi-advertising");', plugin);
}
