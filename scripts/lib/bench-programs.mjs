/**
 * The programs that are compared, each a Pulumi project's files by name: one advertiser and so many events of it, every argument given
 * explicitly, so that no default makes one state smaller than the other.
 */

/** Ids of all providers begin here, so that they have as many digits. */
export const FIRST_ID = 100_000;

const EVENT_ARGUMENTS = `{
    eventName: "Event " + i,
    advertiserId,
    value: 25,
    eventTypeId: 0,
    countUnique: true,
    clickWindow: 604800,
    viewWindow: 86400,
    attribution: "ALL",
  }`;

const advertiserAndEvents = (count, { head, advertiserId }) => `const pulumi = require("@pulumi/pulumi");
${head}
const advertiser = new Advertiser("advertiser", { advertiserName: "Advertiser" });
const advertiserId = ${advertiserId};
for (let i = 0; i < ${count}; i++) {
  new ConversionEvent("event" + i, ${EVENT_ARGUMENTS});
}
`;

/** A user's program with our package. */
export const ours = (count) => ({
  "index.js": advertiserAndEvents(count, {
    head: `const { Advertiser, ConversionEvent } = require("pulumi-advertising");`,
    advertiserId: "advertiser.advertiserId",
  }),
});

/** The same events as one resource. */
export const set = (count) => ({
  "index.js": `const { Advertiser, ConversionEventSet } = require("pulumi-advertising");
const advertiser = new Advertiser("advertiser", { advertiserName: "Advertiser" });
const events = {};
for (let i = 0; i < ${count}; i++) {
  const { advertiserId, ...event } = ${EVENT_ARGUMENTS.replace("advertiserId,", "advertiserId: 0,")};
  events["event" + i] = event;
}
new ConversionEventSet("events", { advertiserId: advertiser, events });
`,
});

/** The least that a dynamic provider can do: it counts. Type tokens as long as ours, and a short reference like ours. */
export const nothing = (count) => ({
  "index.js": advertiserAndEvents(count, {
    head: `
const reference = 'exports.handler=()=>require("./nothing.js").provider';
class Advertiser extends pulumi.CustomResource {
  constructor(name, args) {
    super("pulumi-nodejs:dynamic/do-nothings:Advertiser", name, { ...args, __provider: reference });
  }
}
class ConversionEvent extends pulumi.CustomResource {
  constructor(name, args) {
    super("pulumi-nodejs:dynamic/do-nothings:ConversionEvent", name, { ...args, __provider: reference });
  }
}`,
    advertiserId: "advertiser.id.apply(Number)",
  }),
  "nothing.js": `let count = ${FIRST_ID};
exports.provider = { create: async (inputs) => ({ id: String(count++), outs: inputs }) };
`,
});

/** What Pulumi's documentation shows: the provider's code stands in the program, and each create logs in for itself. */
export const documented = (count) => ({
  "index.js": advertiserAndEvents(count, {
    head: `
const providerOf = (path, wireNames) => ({
  async create(inputs) {
    const { ADVERTISING_BASE_URL: url, ADVERTISING_EMAIL: email, ADVERTISING_PASSWORD: password } = process.env;
    const post = (path, cookie, fields) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify(fields),
      });
    const login = await post("/rest/authenticate", "", { email, password });
    const cookie = login.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    const fields = Object.fromEntries(Object.entries(wireNames).map(([name, wireName]) => [wireName, inputs[name]]));
    const { payload } = await (await post(path, cookie, fields)).json();
    return { id: String(payload.id), outs: inputs };
  },
});
const advertiserProvider = providerOf("/rest/advertiser", { advertiserName: "advertiser_name" });
const eventProvider = providerOf("/rest/event", {
  eventName: "event_name",
  advertiserId: "advertiser_id",
  value: "value",
  eventTypeId: "event_type_id",
  countUnique: "count_unique",
  clickWindow: "click_window",
  viewWindow: "view_window",
  attribution: "attribution",
});
class Advertiser extends pulumi.dynamic.Resource {
  constructor(name, args) {
    super(advertiserProvider, name, args, undefined, "documented", "Advertiser");
  }
}
class ConversionEvent extends pulumi.dynamic.Resource {
  constructor(name, args) {
    super(eventProvider, name, args, undefined, "documented", "ConversionEvent");
  }
}`,
    advertiserId: "advertiser.id.apply(Number)",
  }),
});
