import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { edited, operationsSchema } from "../../provider/src/settings/operations-setting.js";
import { commandFor, readSettings, readValue } from "../../provider/src/settings/read-settings.js";
import {
  accountOf,
  environmentNameOf,
  SETTING_NAMES,
  SETTINGS,
  type SettingRule,
} from "../../provider/src/settings/settings.js";

const complete = { baseUrl: "https://x.example", email: "a@b.c", password: "pw" };

function read(config: Record<string, string>, environment: Record<string, string> = {}, extra = {}) {
  return readSettings({
    config: (key) => config[key],
    environment,
    keys: Object.keys(config),
    mayLackPassword: false,
    ...extra,
  });
}

describe("defaults and sources", () => {
  it("has the documented defaults", () => {
    expect(read(complete)).toEqual({
      problems: [],
      warnings: [],
      notes: [],
      credentials: "advertising:email and advertising:password",
      settings: {
        ...complete,
        authMode: "session",
        keepLoggedIn: false,
        authenticatePath: "rest/authenticate",
        cookieFile: undefined,
        maxWindowSeconds: 2592000,
        requestTimeoutSeconds: 30,
        maxWaitSeconds: 120,
        maxConcurrentRequests: 16,
        markField: undefined,
      },
    });
  });

  it("are logged with the source of the credentials and with unused variables", () => {
    const { email, password, ...rest } = complete;
    const environment = { ADVERTISING_EMAIL: email, ADVERTISING_PASSWORD: "another" };
    const from = (config: Record<string, string>) => read(config, environment).credentials;
    expect(from(rest)).toBe("ADVERTISING_EMAIL and ADVERTISING_PASSWORD");
    expect(from({ ...rest, password: "another" })).toBe("ADVERTISING_EMAIL and advertising:password");
    expect(from(complete)).toBe(
      "advertising:email and advertising:password (not ADVERTISING_PASSWORD, which has another value: the configuration counts first)",
    );
    expect(from({ ...complete, email: "x@y.z" })).toContain(
      "(not ADVERTISING_EMAIL and ADVERTISING_PASSWORD, which have other values: the configuration counts first)",
    );
  });

  it("names an environment variable for each key", () => {
    expect(SETTING_NAMES.map(environmentNameOf)).toEqual([
      "ADVERTISING_BASE_URL",
      "ADVERTISING_EMAIL",
      "ADVERTISING_PASSWORD",
      "ADVERTISING_AUTH_MODE",
      "ADVERTISING_KEEP_LOGGED_IN",
      "ADVERTISING_AUTHENTICATE_PATH",
      "ADVERTISING_COOKIE_FILE",
      "ADVERTISING_MAX_WINDOW_SECONDS",
      "ADVERTISING_REQUEST_TIMEOUT_SECONDS",
      "ADVERTISING_MAX_WAIT_SECONDS",
      "ADVERTISING_MAX_CONCURRENT_REQUESTS",
      "ADVERTISING_MARK_FIELD",
      "ADVERTISING_FORMER_ACCOUNT",
      "ADVERTISING_OPERATIONS",
    ]);
  });

  it("have the same name in every message", () => {
    const source = resolve(import.meta.dirname, "../../provider/src");
    const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(source, file), "utf8"));
    const named = texts.flatMap((text) => [...text.matchAll(/\badvertising:([A-Za-z]+)/g)].map(([, name]) => name));
    expect(named.length).toBeGreaterThan(30);
    const known = [...SETTING_NAMES, "index"]; // of type tokens
    expect(named.filter((name) => !known.includes(name ?? ""))).toEqual([]);
  });

  it("come from the environment if a key is not set, and from the key if both are", () => {
    const { settings } = read(
      { ...complete, email: "key@b.c" },
      { ADVERTISING_EMAIL: "env@b.c", ADVERTISING_AUTH_MODE: "basic" },
    );
    expect(settings).toMatchObject({ email: "key@b.c", authMode: "basic" });
  });
});

describe("baseUrl", () => {
  it.each([
    ["https://x.example", "https://x.example"],
    ["https://x.example/", "https://x.example"],
    ["https://x.example/api/v/", "https://x.example/api/v"],
    ["HTTPS://X.Example:8443/A", "https://x.example:8443/A"],
    ["http://localhost:8787", "http://localhost:8787"],
    ["http://127.0.0.1:8787/p", "http://127.0.0.1:8787/p"],
    ["http://[::1]:8787", "http://[::1]:8787"],
    ["https://bücher.example", "https://xn--bcher-kva.example"],
  ])("%s is taken", (baseUrl, taken) => {
    expect(read({ ...complete, baseUrl })).toMatchObject({ problems: [], settings: { baseUrl: taken } });
  });

  it.each([
    "http://x.example",
    "http://127.0.0.1.evil.example",
    "https://user:geheim@x.example",
    "https://x.example?geheim=1",
    "https://x.example/#geheim",
    "ftp://x.example",
    "x.example",
    "https://",
  ])("%s is refused without being printed in full", (baseUrl) => {
    const { problems } = read({ ...complete, baseUrl });
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain("geheim");
  });
});

it.each(["x.example:8443/api a@b.c", " X.Example:8443/api A@b.c\n"])(
  "the former account %j is taken as the state has it",
  (formerAccount) => {
    const { settings, problems } = read({ ...complete, formerAccount });
    expect(problems).toEqual([]);
    expect(settings.formerAccount).toBe(
      accountOf({ ...settings, baseUrl: "https://x.example:8443/api", email: "a@b.c" }),
    );
  },
);

describe("problems", () => {
  it("are all reported at once, each with the command that fixes it", () => {
    const { problems } = read(
      { authMode: "digest", keepLoggedIn: "yes", maxWaitSeconds: "1.5", maxWaitSecond: "1" },
      { ADVERTISING_EMAIL: " " },
    );
    expect(problems.map(({ source, command }) => [source, command])).toEqual([
      ["advertising:baseUrl", "pulumi config set advertising:baseUrl https://platform.example.com"],
      ["ADVERTISING_EMAIL", "pulumi config set advertising:email you@example.com"],
      ["advertising:password", "pulumi config set --secret advertising:password"],
      ["advertising:authMode", "pulumi config set advertising:authMode session"],
      ["advertising:keepLoggedIn", "pulumi config set advertising:keepLoggedIn true"],
      ["advertising:maxWaitSeconds", "pulumi config set advertising:maxWaitSeconds 120"],
      ["advertising:maxWaitSecond", "pulumi config rm advertising:maxWaitSecond"],
    ]);
    expect(problems.at(-1)?.reason).toContain("did you mean advertising:maxWaitSeconds?");
  });

  it.each([
    ["authMode", "Basic", "basic"],
    ["authMode", "sesion", "session"],
    ["authMode", "digest", "session"],
    ["keepLoggedIn", "yes", "true"],
    ["keepLoggedIn", " ON ", "true"],
    ["keepLoggedIn", "1", "true"],
    ["keepLoggedIn", "ture", "true"],
    ["keepLoggedIn", "off", "false"],
    ["keepLoggedIn", "sometimes", "false"],
  ])("%s %j: the command sets the value that was likely meant", (key, typed, meant) => {
    const { problems } = read({ ...complete, [key]: typed });
    expect(problems.map(({ command }) => command)).toEqual([`pulumi config set advertising:${key} ${meant}`]);
  });

  it.each<[string, string, string]>([
    ["emial", "x@y.z", "set advertising:email x@y.z"],
    ["emial", "x y", "set advertising:email you@example.com"],
    ["baseURI", "https://x.example/a&b", "set advertising:baseUrl 'https://x.example/a&b'"],
    ["baseURI", "https://user:geheim@x.example", "set advertising:baseUrl https://platform.example.com"],
    ["auth_mod", "Basic", "set advertising:authMode basic"],
    ["pasword", "geheim", "set --secret advertising:password"],
    [
      "operation",
      '{"event":{"read":"GET rest/event/{id}"}}',
      "set --path 'advertising:operations.event.read' 'GET rest/event/{id}'",
    ],
  ])("a misspelt key (%s %s) is the only problem, and the command carries its value over", (key, value, set) => {
    const meant = set.match(/advertising:(\w+)/)?.[1] ?? "";
    const { [meant as "email"]: _, ...others } = complete;
    const { problems } = read({ ...others, [key]: value }, {}, { isSecret: () => false });
    expect(problems.map(({ command }) => command)).toEqual([
      `pulumi config ${set} && pulumi config rm advertising:${key}`,
    ]);
    expect(JSON.stringify(problems)).not.toContain("geheim");
  });

  it("a misspelt key's value is not printed if it is or may be secret, and does not replace what is set", () => {
    const { email: _, ...others } = complete;
    for (const extra of [{ isSecret: () => true }, {}]) {
      const { problems } = read({ ...others, emial: "geheim" }, {}, extra);
      expect(problems.map(({ command }) => command)).toEqual([
        "pulumi config set --secret advertising:email && pulumi config rm advertising:emial",
      ]);
    }
    const { problems } = read({ ...complete, emial: "x@y.z" }, {}, { isSecret: () => false });
    expect(problems.map(({ command }) => command)).toEqual(["pulumi config rm advertising:emial"]);
  });

  it("a preview without a password, or with an empty one, goes on with a warning that has the command", () => {
    for (const environment of [{}, { ADVERTISING_PASSWORD: "" }] as Record<string, string>[]) {
      const { problems, warnings, notes } = read({ baseUrl: complete.baseUrl, email: complete.email }, environment, {
        mayLackPassword: true,
      });
      expect(problems).toEqual([]);
      expect(warnings).toEqual([]);
      expect(notes).toEqual([expect.stringContaining("pulumi config set --secret advertising:password")]);
    }
  });

  it("a password in plain text is a warning that does not quote it", () => {
    const { warnings } = read({ ...complete, password: "geheim" }, {}, { isSecret: () => false });
    expect(warnings).toEqual([expect.stringContaining("plain text")]);
    expect(warnings.join()).not.toContain("geheim");
  });

  it.each([
    ["authenticatePath", "../x"],
    ["authenticatePath", "//evil.example/x"],
    ["authenticatePath", "https://evil.example"],
    ["requestTimeoutSeconds", "0"],
    ["requestTimeoutSeconds", "1e3"],
    ["maxConcurrentRequests", "0"],
    ["maxWindowSeconds", "-1"],
    ["markField", "a b"],
    ["markField", "__proto__"],
    ["email", "a b"],
    ["email", "a:b"],
    ["formerAccount", "x.example"],
    ["formerAccount", "https://x.example as a@b.c"],
  ])("%s %s is refused", (key, value) => {
    expect(read({ ...complete, [key]: value }).problems).toHaveLength(1);
  });
});

describe("an unknown environment variable", () => {
  it.each([
    ["ADVERTISING_PASWORD", "ADVERTISING_PASSWORD"],
    ["ADVERTISING_MAX_WAIT", "ADVERTISING_MAX_WAIT_SECONDS"],
    ["ADVERTISING_TIMEOUT", "ADVERTISING_REQUEST_TIMEOUT_SECONDS"],
    ["ADVERTISING_BASEURL", "ADVERTISING_BASE_URL"],
    ["ADVERTISING_LOGS", "ADVERTISING_LOG"],
  ])("%s is a warning that names %s, without its value", (variable, meant) => {
    const { problems, warnings, settings } = read(complete, { [variable]: "geheim" });
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`${variable} .*did you mean ${meant}\\?`))]);
    expect(JSON.stringify([problems, warnings, settings])).not.toContain("geheim");
    expect(problems).toEqual([]);
  });

  it("unlike any known one is a warning that lists those", () => {
    const { problems, warnings } = read(complete, { ADVERTISING_COLOUR: "red" });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/^ADVERTISING_COLOUR .* known are .*ADVERTISING_MARK_FIELD/)]);
  });

  it("is reported beside all problems, in alphabetical order", () => {
    const { problems, warnings } = read({}, { ADVERTISING_PASWORD: "p", ADVERTISING_EMIAL: "e" });
    expect(problems).toHaveLength(3);
    expect(warnings.map((warning) => warning.split(" ")[0])).toEqual(["ADVERTISING_EMIAL", "ADVERTISING_PASWORD"]);
  });

  it("without the package's prefix is ignored, as are the known ones and ADVERTISING_LOG", () => {
    const known = Object.fromEntries(SETTING_NAMES.map((key) => [environmentNameOf(key), undefined]));
    const environment = { ...known, ADVERTISING_LOG: "debug", ADVERTISINGX: "1", MY_ADVERTISING_KEY: "1" };
    expect(read(complete, environment as Record<string, string>).warnings).toEqual([]);
    expect(read(complete, { ADVERTISING_MAX_WAIT: undefined as unknown as string }).warnings).toEqual([]);
  });
});

describe("markField", () => {
  it.each([
    ["advertiser_name", "advertiserName of Advertiser"],
    ["advertiser_id", "advertiserId of ConversionEvent"],
    ["event_name", "eventName of ConversionEvent"],
    ["value", "value of ConversionEvent"],
    ["event_type_id", "eventTypeId of ConversionEvent"],
    ["segment_id", "segmentId of ConversionEvent"],
    ["count_unique", "countUnique of ConversionEvent"],
    ["click_window", "clickWindow of ConversionEvent"],
    ["view_window", "viewWindow of ConversionEvent"],
    [" attribution ", "attribution of ConversionEvent"],
  ])("%s is refused because it would overwrite %s", (markField, argument) => {
    const { problems, settings } = read({ ...complete, markField });
    expect(problems).toEqual([
      {
        source: "advertising:markField",
        reason: expect.stringMatching(new RegExp(`${markField.trim()}.*would overwrite.*\\b${argument}$`)),
        command: "pulumi config set advertising:markField alternative_id",
      },
    ]);
    expect(settings.markField).toBeUndefined();
    expect(read(complete, { ADVERTISING_MARK_FIELD: markField }).problems).toMatchObject([
      { source: "ADVERTISING_MARK_FIELD" },
    ]);
  });

  it.each(["alternative_id", "toString", "valueOf"])("%s is accepted, as no argument uses it", (markField) => {
    expect(read({ ...complete, markField })).toMatchObject({ problems: [], settings: { markField } });
  });
});

describe("a structured value (`pulumi config set --path`), which arrives as JSON text", () => {
  const plain = SETTING_NAMES.filter((key) => SETTINGS[key].structured === undefined);
  it.each(plain.flatMap((key) => ['{"x":"geheim"}', '["geheim"]', " {} ", "[]"].map((text) => [key, text])))(
    "%s %s is refused, and its content is not shown",
    (key, text) => {
      const { problems } = read({ ...complete, [key as string]: text as string });
      expect(problems).toMatchObject([
        {
          source: `advertising:${key}`,
          reason: expect.stringMatching(/^expected .*; got a structured value, (an object|a list)$/),
          command: expect.stringContaining(`advertising:${key}`),
        },
      ]);
      expect(JSON.stringify(problems)).not.toContain("geheim");
    },
  );

  it.each([
    ["cookieFile", "{x"],
    ["cookieFile", "[a]/b"],
    ["cookieFile", "1"],
    ["cookieFile", '"x"'],
    ["cookieFile", "null"],
    ["password", "{not json}"],
    ["password", "true"],
  ])("%s %s is text", (key, text) => {
    expect(read({ ...complete, [key]: text })).toMatchObject({ problems: [], settings: { [key]: text } });
  });

  it("an environment variable is never structured", () => {
    const { password: _, ...rest } = complete;
    expect(read(rest, { ADVERTISING_PASSWORD: "[1]" })).toMatchObject({ problems: [], settings: { password: "[1]" } });
  });
});

describe("a setting that is an object", () => {
  const operation = z
    .string({ error: () => "expected a method and a path" })
    .regex(/^[A-Z]+ \S+$/, "expected a method and a path");
  const rule: SettingRule = {
    schema: z.strictObject({ event: z.strictObject({ read: operation, search: operation.optional() }) }).optional(),
    expected: "an object of operations",
    example: "GET rest/event/{id}",
    structured: { path: "event.read" },
  };
  const json = '{"event":{"read":"GET rest/event/{id}"}}';

  it.each([true, false])("is read from JSON (in the stack's configuration: %s)", (isConfigured) => {
    expect(readValue(rule, json, isConfigured)).toEqual({ value: JSON.parse(json) });
  });

  it("has each wrong entry reported by its path", () => {
    expect(readValue(rule, '{"event":{"read":1,"search":"find"}}', true)).toEqual({
      refusals: [
        { path: ".event.read", reason: "expected a method and a path" },
        { path: ".event.search", reason: "expected a method and a path" },
      ],
    });
  });

  it.each(["GET rest/event/{id}", "{broken", "7"])("is not read from the text %s", (raw) => {
    expect(readValue(rule, raw, true)).toEqual({
      refusals: [{ path: "", reason: `expected an object of operations; got the string "${raw}"` }],
    });
  });

  it("is set with the command for one entry", () => {
    expect(commandFor("operations", rule)).toBe(
      "pulumi config set --path 'advertising:operations.event.read' 'GET rest/event/{id}'",
    );
  });
});

describe("operations", () => {
  const operations = (value: unknown, more: Record<string, string> = {}) =>
    read({ ...complete, operations: typeof value === "string" ? value : JSON.stringify(value), ...more });
  const problemsOf = (value: unknown, more?: Record<string, string>) =>
    operations(value, more).problems.map(({ source, reason }) => `${source} ${reason}`);

  it("are read as data: method, path, and whether a request may be repeated", () => {
    const { settings, problems } = operations(
      { event: { read: "get /rest/event/{id}", search: "GET rest/event?alternative_id={mark}" } },
      { markField: "alternative_id" },
    );
    expect(problems).toEqual([]);
    expect(settings.operations?.of.event?.read).toMatchObject({
      method: "GET",
      path: "rest/event/{id}",
      repeatable: true,
    });
    expect(settings.operations?.of.event?.search).toMatchObject({
      path: "rest/event?alternative_id={mark}",
      noun: "event",
    });
    expect(settings.operations?.of.advertiser).toBeUndefined();
    expect(settings.operations).toMatchObject({ resendAfterSeconds: 60, createdVisibleAfterSeconds: 300 });
  });

  it("may be JSON in the environment too", () => {
    const { settings, problems } = read(complete, {
      ADVERTISING_OPERATIONS:
        '{"advertiser":{"delete":"DELETE rest/advertiser?id={id}"},"resendAfterSeconds":"never","createdVisibleAfterSeconds":"0"}',
    });
    expect(problems).toEqual([]);
    expect(settings.operations).toMatchObject({ of: { advertiser: { delete: { method: "DELETE" } } } });
    expect(settings.operations).toMatchObject({ resendAfterSeconds: undefined, createdVisibleAfterSeconds: 0 });
  });

  it("all problems are reported at once, each with its path and the nearest name", () => {
    expect(
      problemsOf({
        events: { read: "GET rest/event/{id}" },
        resendAfterSeconds: -1,
        createdVisibleAfterSeconds: "never",
        event: {
          reed: "GET rest/event/{id}",
          read: "POST rest/event/{event_id}",
          update: "PUT rest/event",
          delete: "DELETE ../event/{id}",
          search: "rest/event",
        },
        advertiser: "GET",
      }),
    ).toEqual([
      "advertising:operations.events is not a known kind; did you mean event?",
      "advertising:operations.resendAfterSeconds expected whole seconds from 0 to 86400, or never; got -1",
      'advertising:operations.createdVisibleAfterSeconds expected whole seconds from 0 to 86400; got the string "never"',
      "advertising:operations.event.reed is not a known operation; did you mean read?",
      'advertising:operations.event.read expected the method GET; got the string "POST"',
      "advertising:operations.event.read has the unknown placeholder {event_id}; known is {id}",
      "advertising:operations.event.update lacks the placeholder {id}",
      "advertising:operations.event.delete leaves the base URL; expected a path below it, without a host and without ..",
      expect.stringMatching(
        /^advertising:operations.event.search expected a method and a path, such as GET rest\/event\?/,
      ),
      'advertising:operations.advertiser expected an object of read, update, delete and search; got the string "GET"',
      "advertising:operations.event.search needs advertising:markField, the field that each create carries its mark in",
    ]);
  });

  it.each([
    "//evil.example/{id}",
    "https://evil.example/{id}",
    "a/../../{id}",
    "a/%2e%2E/{id}",
    "a/..%2f{id}",
    "./{id}",
  ])("a path that leaves the base URL is refused: %s", (path) => {
    expect(problemsOf({ event: { read: `GET ${path}` } })).toEqual([expect.stringContaining("leaves the base URL")]);
  });

  it("an update that a server could handle as a create is refused", () => {
    expect(problemsOf({ event: { update: "POST rest/event?id={id}" } })).toEqual([
      expect.stringContaining("event.update is the create itself"),
    ]);
    expect(problemsOf({ event: { update: "POST rest/event/{id}" } })).toEqual([]);
  });

  it.each([
    "POST rest//event?id={id}",
    "POST rest/%65vent?id={id}",
    "POST rest/%2565vent?id={id}",
    "POST rest/event;v=1?id={id}",
    "POST rest/event/?id={id}",
    "POST rest/event/;{id}",
    "POST REST/Event?id={id}",
    "POST rest/advertiser?id={id}",
  ])("so is %s: another spelling of a create, or a create of the other kind", (text) => {
    expect(problemsOf({ event: { update: text } })).toEqual([
      expect.stringContaining("event.update is the create itself"),
    ]);
  });

  it.each([
    ["event", "delete", "DELETE rest/advertiser/{id}"],
    ["event", "delete", "DELETE rest/event/7/%61dvertiser/{id}"],
    ["event", "update", "PUT rest/Advertisers/{id}"],
    ["advertiser", "read", "GET rest/event/{id}"],
    ["advertiser", "delete", "POST rest//event;v=1/{id}/delete"],
  ])("an operation of %s has no path of the other kind: %s %s", (noun, name, text) => {
    expect(problemsOf({ [noun]: { [name]: text } })).toEqual([expect.stringContaining("has the path of another kind")]);
  });

  it.each([
    ["event", "delete", "DELETE rest/advertiser/7/event/{id}"],
    ["event", "delete", "DELETE api/v2/objects/{id}"],
    ["event", "update", "POST rest/event/{id};v=1"],
    ["advertiser", "delete", "DELETE rest/advertiser?id={id}"],
  ])("an operation of %s may have its own path, or one that names no kind: %s %s", (noun, name, text) => {
    expect(problemsOf({ [noun]: { [name]: text } })).toEqual([]);
  });

  describe("the command that fixes it", () => {
    const commandsFor = (value: unknown) => operations(value).problems.map(({ command }) => command);

    it("moves the value of a misspelt name", () => {
      expect(commandsFor({ event: { reed: "GET rest/event/{id}" } })).toEqual([
        "pulumi config rm --path 'advertising:operations.event.reed' && " +
          "pulumi config set --path 'advertising:operations.event.read' 'GET rest/event/{id}'",
      ]);
      expect(commandsFor({ evnt: { read: "GET rest/event/{id}" } })).toEqual([
        "pulumi config rm --path 'advertising:operations.evnt' && " +
          "pulumi config set --path 'advertising:operations.event.read' 'GET rest/event/{id}'",
      ]);
    });

    it("sets the wrong entry", () => {
      expect(commandsFor({ advertiser: { update: "PUT rest/advertiser/{ID}" } })).toEqual([
        "pulumi config set --path 'advertising:operations.advertiser.update' 'PUT rest/advertiser/{id}'",
      ]);
    });

    it("sets the whole variable if the value came from the environment", () => {
      const json = '{"event":{"reed":"GET rest/event/{id}","delete":"DELETE rest/event/{id}"}}';
      expect(read(complete, { ADVERTISING_OPERATIONS: json }).problems).toEqual([
        {
          source: "ADVERTISING_OPERATIONS.event.reed",
          reason: "is not a known operation; did you mean read?",
          command: `export ADVERTISING_OPERATIONS='{"event":{"delete":"DELETE rest/event/{id}","read":"GET rest/event/{id}"}}'`,
        },
      ]);
    });

    it.each([
      { evnt: { read: "GET rest/event/{id}" }, resendAfterSecond: 5 },
      { event: { reed: "GET rest/event/{id}", update: "PUT rest/event", delete: "DELETE rest/advertiser/{id}" } },
      { event: "GET", advertiser: { read: 5, delete: "POST rest/advertiser" }, nothingLikeIt: 1 },
      {
        resendAfterSeconds: "soon",
        createdVisibleAfterSeconds: 1.5,
        createdVisibleAfter: 1,
        event: { search: "GET rest/event/{id}", 'a"b': "x" },
      },
    ])("leaves no problem: %j", (value) => {
      const { error } = operationsSchema.safeParse(value);
      const fixes = (error?.issues ?? []).flatMap((issue) => (issue.code === "custom" ? issue.params?.fix : []));
      expect(fixes.length).toBeGreaterThan(0);
      expect(operationsSchema.safeParse(edited(value, fixes)).error).toBeUndefined();
    });
  });

  it("a misspelt markField is reported once", () => {
    const { problems } = operations({ event: { search: "GET rest/event?a={mark}" } }, { markfeld: "a" });
    expect(problems.map(({ source }) => source)).toEqual(["advertising:markfeld"]);
  });

  it("a search needs the setting markField", () => {
    const { problems } = operations({ event: { search: "GET rest/event?alternative_id={mark}" } });
    expect(problems).toEqual([
      {
        source: "advertising:operations.event.search",
        reason: "needs advertising:markField, the field that each create carries its mark in",
        command: "pulumi config set advertising:markField alternative_id",
      },
    ]);
  });

  it("the command that fixes it sets one entry", () => {
    expect(operations({ event: { read: 5 } }).problems[0]?.command).toBe(
      "pulumi config set --path 'advertising:operations.event.read' 'GET rest/event/{id}'",
    );
    expect(problemsOf("GET rest/event/{id}")).toEqual([
      expect.stringContaining("expected an object of operations by kind"),
    ]);
  });
});
