/**
 * The programs that are compared, each a Pulumi project's files by name: one advertiser and so many events of it. Every
 * argument is given explicitly, so that no default makes one state smaller than the other.
 */

/** Ids of all providers begin here, so that they have as many digits. */
export const FIRST_ID = 100_000;

const EVENT = `value: 25, eventTypeId: 0, countUnique: true, clickWindow: 604800, viewWindow: 86400, attribution: "ALL"`;

const singles = (
  count,
  { head, advertiserId },
) => `const pulumi = require("@pulumi/pulumi");
${head}
const advertiser = new Advertiser("advertiser", { advertiserName: "Advertiser" });
const advertiserId = ${advertiserId};
for (let i = 0; i < ${count}; i++) new ConversionEvent("event" + i, { eventName: "Event " + i, advertiserId, ${EVENT} });
`;

/** A user's program with our package. */
export const ours = (count) => ({
  "index.js": singles(count, {
    head: `const { Advertiser, ConversionEvent } = require("pulumi-advertising");`,
    advertiserId: "advertiser.advertiserId",
  }),
});

/** The same events as one resource. */
export const set = (count) => ({
  "index.js": `const { Advertiser, ConversionEventSet } = require("pulumi-advertising");
const advertiserId = new Advertiser("advertiser", { advertiserName: "Advertiser" });
const events = {};
for (let i = 0; i < ${count}; i++) events["event" + i] = { eventName: "Event " + i, ${EVENT} };
new ConversionEventSet("events", { advertiserId, events });
`,
});

/** A program's resources as the plugin's. */
export const throughPlugin = (program) => (count) => {
  const { "index.js": text } = program(count);
  const classes = `const classOf = (name, id) => class extends require("@pulumi/pulumi").CustomResource {
  constructor(key, args) { super("advertising:index:" + name, key, { [id]: undefined, ...args }); }
};
const Advertiser = classOf("Advertiser", "advertiserId");
const ConversionEvent = classOf("ConversionEvent", "eventId");
const ConversionEventSet = classOf("ConversionEventSet", "eventIds");`;
  const plain = text.replace(
    "advertiserId = new Advertiser(",
    "{ advertiserId } = new Advertiser(",
  );
  return {
    "index.js": plain.replace(/^const .* = require\("pulumi-advertising"\);$/m, classes),
  };
};

/** The least that a dynamic provider can do: it counts. Type tokens as long as ours, and short references like ours. */
export const nothing = (count) => ({
  "index.js": singles(count, {
    head: `const classOf = (kind) => class extends pulumi.CustomResource {
  constructor(name, args) {
    const __provider = 'exports.handler=()=>require("./nothing.js").provider';
    super("pulumi-nodejs:dynamic/do-nothings:" + kind, name, { ...args, __provider });
  }
};
const [Advertiser, ConversionEvent] = ["Advertiser", "ConversionEvent"].map(classOf);`,
    advertiserId: "advertiser.id.apply(Number)",
  }),
  "nothing.js": `let count = ${FIRST_ID};
exports.provider = { create: async (inputs) => ({ id: String(count++), outs: inputs }) };
`,
});

/** One advertiser, read as Pulumi reads TypeScript by itself. */
export const typed = {
  "index.ts": `import * as advertising from "pulumi-advertising";
new advertising.Advertiser("a", { advertiserName: "A" });
`,
  "tsconfig.json": `{ "compilerOptions": { "strict": true, "target": "es2023", "module": "nodenext", "skipLibCheck": true } }`,
};
