/**
 * Writes provider/schema.json, Pulumi's schema of the plugin, from the kinds and settings as last built, the doc comments
 * of the resource classes, and the programs in examples/resources.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import ts from "typescript";
import { inRoot } from "./lib/base.mjs";
import { EXAMPLE_LANGUAGES, exampleOf } from "./lib/examples.mjs";

const TOKEN = "advertising:index:";
/** The schema's type for each form of a rule. A rule without a form is any object. */
const TYPES = {
  text: { type: "string" },
  number: { type: "number" },
  truth: { type: "boolean" },
  id: { oneOf: [{ type: "integer" }, { type: "string" }] },
  seconds: { type: "integer" },
  "named number": { type: "integer" },
  choice: { type: "string" },
};
const EVENT_TYPE = { $ref: `#/types/${TOKEN}EventType` };
const ATTRIBUTION = { $ref: `#/types/${TOKEN}Attribution` };
/** The types of the arguments with named values. Any other event type is accepted too. */
const NAMED_VALUES = {
  eventTypeId: { oneOf: [{ type: "integer" }, EVENT_TYPE] },
  attribution: ATTRIBUTION,
};
/** What the doc comments say to programs in TypeScript, and what fits every language. */
const NEUTRAL = [
  [
    "`EventType.Purchase` (0), `.LandingPage` (1), or any other integer from 0",
    "0 for a purchase, 1 for a landing page, or any other integer from 0",
  ],
  [" See `days()` and `hours()`.", ""],
  [" (see `EventType`)", ""],
  ["`undefined` if", "absent if"],
  ["an Advertiser, or an id as a number or digits", "its id as a number or digits"],
  ["as `{ active: true }` for", "as `active` for"],
  [", which a number can't hold exactly, is", " is"],
  [
    "not `__proto__`, `toString` or `__pulumi…`, which Pulumi can't carry",
    "not a name that Pulumi reserves",
  ],
  ["As declared, or `false`.", "As declared; off by default."],
  ["Default: false.", "Off by default."],
  ["Expected: true or false.", "Expected: a boolean."],
  ["), or none.", '), or "none".'],
  [
    '`"ALL"`: every line item of the advertiser is eligible; `"WHITELIST"`: only selected ones. Default: "ALL".',
    "Which line items are eligible, as an `Attribution`: all of the advertiser (the default), or only selected ones.",
  ],
  ['as declared, or `"ALL"`.', "as declared, or all of the advertiser."],
];
/** The headings of the resources' examples. */
const EXAMPLE_TITLES = {
  Advertiser: "An advertiser and its id",
  ConversionEvent: "A purchase that looks back seven days",
  ConversionEventSet: "Two events of one advertiser",
};
const ANY_MAP = { type: "object", additionalProperties: { $ref: "pulumi.json#/Any" } };
/** The widest limits that any installation may have, since the schema is for all. */
const WIDEST = { maxWindowSeconds: 2_147_483_647, markField: undefined };

/** The doc comments of classes and interfaces, and of their properties, as `Name` and `Name.property`. */
function docsIn(path) {
  const file = ts.createSourceFile(
    path,
    readFileSync(path, "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const docs = new Map();
  for (const node of file.statements) {
    if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node)) continue;
    docs.set(node.name.text, docOf(node));
    for (const member of node.members)
      if (member.name !== undefined)
        docs.set(`${node.name.text}.${member.name.getText()}`, docOf(member));
  }
  return docs;
}

/** @returns a node's doc comment as text, with its default, without its other tags. */
function docOf(node) {
  const [doc] = node.jsDoc ?? [];
  if (doc === undefined) return undefined;
  const tag = doc.tags?.find(({ tagName }) => tagName.text === "default");
  const texts = [doc.comment, tag && `Default: ${textOf(tag.comment)}.`];
  const text = texts.filter(Boolean).map(textOf).join(" ").replace(/\s+/g, " ").trim();
  return neutral(text);
}

function neutral(text) {
  return NEUTRAL.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

function textOf(comment) {
  if (typeof comment === "string") return comment;
  return (comment ?? []).map((part) => part.name?.getText() ?? part.text).join("");
}

/** The heading is inside: generators leave out an example without code in their language. */
const withExample = (description, resource) => `${description}

{{% examples %}}
{{% example %}}
### ${EXAMPLE_TITLES[resource]}

${EXAMPLE_LANGUAGES.map((language) => exampleOf(language, resource)).join("\n\n")}
{{% /example %}}
{{% /examples %}}`;

/** @param modules of the package: kinds, rules, settings. @param version of the package. @param pulumi the lowest version. */
export function pluginSchema({ kinds, rules, settings, docs, version, pulumi }) {
  const { advertiser, conversionEvent, entryRules, sharedRules } = kinds;
  const typeOf = (rule) => {
    const { form } = rules.described(rule);
    return form === undefined ? ANY_MAP : TYPES[form];
  };
  const outputType = (rule, name) => (name === "attribution" ? ATTRIBUTION : typeOf(rule));
  const described = (type, owners, name) => {
    const description = owners.map((owner) => docs.get(`${owner}.${name}`)).find(Boolean);
    if (description === undefined) throw new Error(`no doc comment of ${owners}.${name}`);
    return { ...type, description };
  };
  const propertiesOf = ({ shape }, owners) =>
    Object.fromEntries(
      Object.entries(shape).map(([name, rule]) => [
        name,
        described(NAMED_VALUES[name] ?? typeOf(rule), owners, name),
      ]),
    );
  const requiredIn = ({ shape }) =>
    Object.keys(shape).filter(
      (name) => !["optional", "default"].includes(shape[name].type),
    );
  const single = (kind, className) => {
    const fields = kind.rules(WIDEST);
    const inputs = propertiesOf(fields, [`${className}Args`]);
    const outputs = kind.outputs.map((name) => {
      const isId = [kind.idProperty, "existingId", ...kind.idArguments].includes(name);
      const type = isId ? { type: "integer" } : outputType(fields.shape[name], name);
      return [name, described(type, [className], name)];
    });
    const always = Object.keys(fields.shape).filter(
      (name) => fields.shape[name].type !== "optional",
    );
    return {
      description: withExample(docs.get(className), className),
      properties: Object.fromEntries(outputs),
      required: [kind.idProperty, ...always],
      inputProperties: inputs,
      requiredInputs: requiredIn(fields),
    };
  };
  const entry = entryRules(WIDEST);
  const shared = sharedRules(WIDEST);
  const owners = ["ConversionEventEntry", "ConversionEventArgs"];
  const set = "ConversionEventSetArgs";
  const events = {
    type: "object",
    additionalProperties: { $ref: `#/types/${TOKEN}ConversionEventEntry` },
  };
  const ids = { type: "object", additionalProperties: { type: "integer" } };
  const ofSet = (name, type) => described(type, ["ConversionEventSet"], name);
  return {
    name: "advertising",
    displayName: "Advertising platform",
    version,
    description: "Advertisers and conversion events of an advertising platform",
    // As Pulumi's registry sorts packages.
    keywords: ["advertising", "conversion", "kind/native", "category/utility"],
    publisher: "pulumi-advertising",
    license: "Apache-2.0",
    config: { variables: settingsOf(settings) },
    types: {
      ...namedValues(kinds),
      [`${TOKEN}ConversionEventEntry`]: {
        type: "object",
        description: docs.get("ConversionEventEntry"),
        properties: propertiesOf(entry, owners),
        required: requiredIn(entry),
      },
      [`${TOKEN}ConversionEventDefaults`]: {
        type: "object",
        description: "Arguments for every event whose entry does not have them.",
        properties: propertiesOf(shared, owners),
      },
    },
    provider: {
      description: "An account of an advertising platform.",
      inputProperties: settingsOf(settings),
    },
    resources: {
      [`${TOKEN}Advertiser`]: single(advertiser, "Advertiser"),
      [`${TOKEN}ConversionEvent`]: single(conversionEvent, "ConversionEvent"),
      [`${TOKEN}ConversionEventSet`]: {
        description: withExample(docs.get("ConversionEventSet"), "ConversionEventSet"),
        properties: {
          eventIds: ofSet("eventIds", ids),
          advertiserId: ofSet("advertiserId", { type: "integer" }),
          defaults: ofSet("defaults", ANY_MAP),
          events: ofSet("events", events),
          deletionPolicy: ofSet("deletionPolicy", TYPES.choice),
        },
        required: ["eventIds", "advertiserId", "defaults", "events"],
        inputProperties: {
          advertiserId: described(TYPES.id, [set], "advertiserId"),
          defaults: described(
            { $ref: `#/types/${TOKEN}ConversionEventDefaults` },
            [set],
            "defaults",
          ),
          events: described(events, [set], "events"),
          deletionPolicy: described(TYPES.choice, [set], "deletionPolicy"),
        },
        requiredInputs: ["advertiserId", "events"],
      },
    },
    language: {
      nodejs: {
        packageName: "pulumi-advertising-sdk",
        respectSchemaVersion: true,
        dependencies: { "@pulumi/pulumi": `^${pulumi}` },
      },
      python: {
        packageName: "pulumi_advertising",
        respectSchemaVersion: true,
        requires: { pulumi: `>=${pulumi},<4.0.0` },
        pythonRequires: ">=3.10", // as Pulumi's own package
        pyproject: { enabled: true },
      },
      go: { respectSchemaVersion: true },
      // Only Pulumi itself may publish packages that begin with `Pulumi.`
      csharp: { respectSchemaVersion: true, rootNamespace: "AdvertisingPlatform" },
    },
  };
}

/** The named values of arguments. @param kinds that module. */
function namedValues({ EventType, Attribution }) {
  const valuesOf = (names) =>
    Object.entries(names).map(([name, value]) => ({ name, value }));
  return {
    [`${TOKEN}EventType`]: {
      type: "integer",
      description: "The event types that the platform's documentation names.",
      enum: valuesOf(EventType),
    },
    [`${TOKEN}Attribution`]: {
      type: "string",
      description:
        "The line items that a conversion may be credited to: all of the advertiser, or only selected ones.",
      enum: valuesOf(Attribution),
    },
  };
}

/** The provider's arguments: each setting, with its environment variable. */
function settingsOf({ SETTINGS, environmentNameOf }) {
  const entries = Object.entries(SETTINGS).map(([name, rule]) => {
    const type = rule.structured === undefined ? settingType(rule) : ANY_MAP;
    const environment = environmentNameOf(name);
    const description = `Expected: ${rule.expected}. Default: the stack's \`advertising:${name}\`, then ${environment}.`;
    return [
      name,
      {
        ...type,
        description: neutral(description),
        ...(rule.secret && { secret: true }),
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** A number or a boolean, if its default is one. */
function settingType({ schema }) {
  const types = { number: "integer", boolean: "boolean" };
  return { type: types[typeof schema.safeParse(undefined).data] ?? "string" };
}

/** The modules as last built. */
export function builtModules() {
  const require = createRequire(inRoot("provider", "dist", "index.js"));
  const { version, peerDependencies } = require("../package.json");
  return {
    kinds: require("./kinds/index.js"),
    rules: require("./rules/index.js"),
    settings: require("./settings/settings.js"),
    version,
    pulumi: peerDependencies["@pulumi/pulumi"].slice(1),
    docs: docsIn(inRoot("provider", "src", "program", "resources.ts")),
  };
}

if (process.argv[1] === import.meta.filename) {
  const schema = pluginSchema(builtModules());
  writeFileSync(
    inRoot("provider", "schema.json"),
    `${JSON.stringify(schema, undefined, 2)}\n`,
  );
}
