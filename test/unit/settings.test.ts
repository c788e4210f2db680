/** The settings and the proxy, as both processes read them: everything that is wrong at once, and no secret shown. */
import { describe, expect, it } from "vitest";
import { setCommandTarget } from "../../provider/src/base/index.js";
import { createRuntime } from "../../provider/src/operations/create-runtime.js";
import {
  describeSettingProblem,
  problemsBeside,
  readSettings,
} from "../../provider/src/settings/read-settings.js";
import {
  accountMatcher,
  accountOf,
  environmentNameOf,
  SETTING_NAMES,
  SETTINGS,
} from "../../provider/src/settings/settings.js";

const complete = { baseUrl: "https://x.example", email: "a@b.c", password: "pw" };

function read(
  config: Record<string, string>,
  environment: Record<string, string> = {},
  extra = {},
) {
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
      inherited: [],
      credentialsSource: "advertising:email and advertising:password",
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

  it("names an environment variable for each key", () => {
    const words =
      "BASE_URL EMAIL PASSWORD AUTH_MODE KEEP_LOGGED_IN AUTHENTICATE_PATH COOKIE_FILE MAX_WINDOW_SECONDS REQUEST_TIMEOUT_SECONDS";
    const more =
      "MAX_WAIT_SECONDS MAX_CONCURRENT_REQUESTS MARK_FIELD FORMER_ACCOUNT OPERATIONS";
    const names = `${words} ${more}`.split(" ").map((name) => `ADVERTISING_${name}`);
    expect(SETTING_NAMES.map(environmentNameOf)).toEqual(names);
  });

  it("come from the environment if a key is not set, and from the key if both are", () => {
    const { password, ...rest } = { ...complete, email: "key@b.c" };
    const environment = {
      ADVERTISING_EMAIL: "env@b.c",
      ADVERTISING_AUTH_MODE: "basic",
      ADVERTISING_PASSWORD: "[1]",
    };
    const { settings, credentialsSource } = read(rest, environment);
    expect(settings).toMatchObject({
      email: "key@b.c",
      authMode: "basic",
      password: "[1]",
    });
    expect(credentialsSource).toBe("advertising:email and ADVERTISING_PASSWORD");
  });
});

describe("a value", () => {
  it.each([
    ["baseUrl", "https://x.example/", "https://x.example"],
    ["baseUrl", "https://x.example/api/v/", "https://x.example/api/v"],
    ["baseUrl", "HTTPS://X.Example:8443/A", "https://x.example:8443/A"],
    ["baseUrl", "http://localhost:8787", "http://localhost:8787"],
    ["baseUrl", "http://127.0.0.1:8787/p", "http://127.0.0.1:8787/p"],
    ["baseUrl", "http://[::1]:8787", "http://[::1]:8787"],
    ["baseUrl", "https://bücher.example", "https://xn--bcher-kva.example"],
    ["markField", " alternative_id ", "alternative_id"],
    ["markField", "toString", "toString"],
    ["password", "{not json}", "{not json}"],
    ["authenticatePath", "/api/2.0/login", "api/2.0/login"],
  ])("of %s may be %s", (key, value, taken) => {
    expect(read({ ...complete, [key]: value })).toMatchObject({
      problems: [],
      settings: { [key]: taken },
    });
  });

  it.each(["x.example:8443/api a@b.c", " X.Example:8443/api A@b.c\n"])(
    "of formerAccount: %j",
    (formerAccount) => {
      const { settings, problems } = read({ ...complete, formerAccount });
      expect(problems).toEqual([]);
      const former = { ...settings, baseUrl: "https://x.example:8443/api", email: "a@b.c" };
      expect(settings.formerAccount).toEqual([accountOf(former)]);
    },
  );

  it("several former accounts are one account, and any other is another", () => {
    const { settings } = read({
      ...complete,
      formerAccount: "X.example a@b.c, y.example/api A@b.c",
    });
    const isSame = accountMatcher(settings);
    for (const account of [
      accountOf(settings),
      "x.example a@b.c",
      "y.example/api a@b.c",
      undefined,
      "",
    ])
      expect(isSame(account), String(account)).toBe(true);
    expect(isSame("z.example a@b.c")).toBe(false);
  });

  it.each([
    ["baseUrl", "http://x.example"],
    ["baseUrl", "http://127.0.0.1.evil.example"],
    ["baseUrl", "https://user:geheim@x.example"],
    ["baseUrl", "https://x.example?geheim=1"],
    ["baseUrl", "https://x.example/#geheim"],
    ["baseUrl", "ftp://x.example"],
    ["baseUrl", "x.example"],
    ["authenticatePath", "../x"],
    ["authenticatePath", "https://evil.example"],
    ["requestTimeoutSeconds", "0"],
    ["maxWindowSeconds", "-1"],
    ["keepLoggedIn", "yes"],
    ["cookieFile", "~user/session.json"],
    ["markField", "a b"],
    ["markField", "__proto__"],
    ...["advertiser_name", "advertiser_id", "event_name", "value", " attribution "].map(
      (name) => ["markField", name],
    ),
    ["email", "a b"],
    ["email", "a:b"],
    ["email", '"a@b.c"'],
    ["email", "'a@b.c'"],
    ["formerAccount", "x.example"],
    ["formerAccount", "https://x.example as a@b.c"],
    ["operations", "GET rest/event/{id}"],
    ["operations", "{broken"],
  ])(
    "of %s can't be %s, which is one problem with the command of its example",
    (key = "", value = "") => {
      const { problems } = read({ ...complete, [key]: value });
      const { expected, example = "" } = SETTINGS[key as keyof typeof SETTINGS];
      expect(problems).toMatchObject([
        {
          source: `advertising:${key}`,
          reason: expect.stringContaining(`expected ${expected}; got `),
          command: expect.stringMatching(/^pulumi config set .*advertising:/),
        },
      ]);
      if (key !== "operations") expect(problems[0]?.command).toContain(example);
      expect(JSON.stringify(problems)).not.toContain("geheim");
    },
  );

  it.each(["geheim\n", "geheim\r\n", "geheim\r"])(
    "of password can't be %j: it ends with a line break",
    (password) => {
      const problem = {
        reason:
          "expected the password of the login, without a line break at its end; got another value",
        command: "pulumi config set --secret advertising:password",
      };
      const { password: _, ...rest } = complete;
      for (const mayLackPassword of [true, false]) {
        const configured = read({ ...rest, password }, {}, { mayLackPassword });
        expect(configured.problems).toEqual([
          { source: "advertising:password", ...problem },
        ]);
        const inEnvironment = read(
          rest,
          { ADVERTISING_PASSWORD: password },
          { mayLackPassword },
        );
        expect(inEnvironment.problems).toEqual([
          { source: "ADVERTISING_PASSWORD", ...problem },
        ]);
      }
    },
  );

  it.each(['"', "'", 'a"b"', '"a', "”geheim“", "pass word "])(
    "of password may be %j, without a warning",
    (password) => {
      expect(read({ ...complete, password })).toMatchObject({
        problems: [],
        warnings: [],
        settings: { password },
      });
    },
  );

  it.each([
    ["password", '{"geheim":1}'],
    ["password", '["geheim"]'],
    ["email", '["geheim@x.example"]'],
    ["cookieFile", '{"geheim":"x"}'],
  ])("of %s can't be a structured one, whose content is not shown: %s", (key, value) => {
    const { problems, settings } = read({ ...complete, [key]: value });
    expect(problems).toMatchObject([
      {
        source: `advertising:${key}`,
        reason: expect.stringMatching(/; got another value$/),
      },
    ]);
    expect(JSON.stringify([problems, settings])).not.toContain("geheim");
  });

  it("of baseUrl can't be a structured one, whose content is not shown", () => {
    const { problems } = read({ ...complete, baseUrl: '{"x":"geheim"}' });
    expect(problems).toMatchObject([
      { reason: expect.stringMatching(/got another value$/) },
    ]);
  });
});

describe("problems", () => {
  it("are all reported at once, each with a command", () => {
    const { problems } = read(
      { authMode: "digest", maxWaitSeconds: "1.5", maxWaitSecond: "1" },
      { ADVERTISING_EMAIL: " ", HTTPS_PROXY: "geheim" },
    );
    expect(problems.map(({ source, command }) => [source, command])).toEqual([
      [
        "advertising:baseUrl",
        "pulumi config set advertising:baseUrl https://platform.example.com",
      ],
      ["advertising:email", "pulumi config set advertising:email you@example.com"],
      ["advertising:password", "pulumi config set --secret advertising:password"],
      ["advertising:authMode", "pulumi config set advertising:authMode session"],
      ["advertising:maxWaitSeconds", "pulumi config set advertising:maxWaitSeconds 120"],
      ["HTTPS_PROXY", "export HTTPS_PROXY=http://proxy.example.com:3128"],
      ["advertising:maxWaitSecond", "pulumi config rm advertising:maxWaitSecond"],
    ]);
    expect(problems.at(-1)?.reason).toContain("did you mean maxWaitSeconds?");
  });

  it.each(["", " "])(
    "an empty key of the configuration (%j) hides no variable",
    (email) => {
      const reading = read({ ...complete, email }, { ADVERTISING_EMAIL: "b@c.d" });
      expect(reading).toMatchObject({
        problems: [],
        settings: { email: "b@c.d" },
        inherited: ["email"],
        credentialsSource: "ADVERTISING_EMAIL and advertising:password",
      });
    },
  );

  it("a variable that only the program has is a problem in the provider, once for each setting", () => {
    const { baseUrl, email } = complete;
    const provider = read({ email }, {}, { mayLackPassword: true });
    const program = read(
      { email },
      { ADVERTISING_BASE_URL: baseUrl, ADVERTISING_PASSWORD: "geheim" },
    );
    expect(problemsBeside(provider, program.inherited)).toEqual([
      {
        source: "advertising:baseUrl",
        reason: expect.stringMatching(/^is set by the program, as ADVERTISING_BASE_URL, /),
        command: "pulumi config set advertising:baseUrl https://platform.example.com",
      },
      {
        source: "advertising:password",
        reason: expect.stringMatching(/^is set by the program, as ADVERTISING_PASSWORD, /),
        command: "pulumi config set --secret advertising:password",
      },
    ]);
    expect(problemsBeside(program, program.inherited)).toEqual([]);
    expect(problemsBeside(read(complete), [])).toEqual([]);
  });

  it.each([{}, { ADVERTISING_PASSWORD: "" }])(
    "a preview without a password has a note with the command: %j",
    (more) => {
      const { problems, warnings } = read(
        { baseUrl: complete.baseUrl, email: complete.email },
        more,
        {
          mayLackPassword: true,
        },
      );
      expect(problems).toEqual([]);
      expect(warnings).toEqual([
        expect.stringContaining("pulumi config set --secret advertising:password"),
      ]);
    },
  );

  it("a password in plain text is a warning that does not quote it", () => {
    const { warnings } = read(
      { ...complete, password: "geheim" },
      {},
      { isSecret: () => false },
    );
    expect(warnings).toEqual([expect.stringContaining("plain text")]);
    expect(warnings.join()).not.toContain("geheim");
  });
});

describe("operations", () => {
  const operations = (
    value: unknown,
    more: Record<string, string> = {},
    extra: Partial<Parameters<typeof readSettings>[0]> = {},
  ) => read({ ...complete, operations: JSON.stringify(value), ...more }, {}, extra);
  const problemsOf = (value: unknown) =>
    operations(value).problems.map(({ source, reason }) => `${source} ${reason}`);

  it("are read as data: method, path, and whether a request may be repeated", () => {
    const { settings, problems } = operations(
      {
        event: {
          read: "get /rest/event/{id}",
          search: "GET rest/event?alternative_id={mark}",
        },
      },
      { markField: "alternative_id" },
    );
    expect(problems).toEqual([]);
    expect(settings.operations).toMatchObject({
      of: {
        event: {
          read: { method: "GET", path: "rest/event/{id}", idempotent: true },
          search: { path: "rest/event?alternative_id={mark}" },
        },
      },
      resendAfterSeconds: 60,
      createdVisibleAfterSeconds: 300,
    });
  });

  it("may be JSON in the environment too; what is wrong there is named by its variable", () => {
    const known =
      '{"advertiser":{"delete":"DELETE rest/advertiser?id={id}"},"resendAfterSeconds":"never"';
    const { settings, problems } = read(complete, {
      ADVERTISING_OPERATIONS: `${known},"createdVisibleAfterSeconds":"0"}`,
    });
    expect(problems).toEqual([]);
    expect(settings.operations).toMatchObject({
      of: { advertiser: { delete: { method: "DELETE" } } },
    });
    expect(settings.operations).toMatchObject({
      resendAfterSeconds: undefined,
      createdVisibleAfterSeconds: 0,
    });
    expect(
      read(complete, { ADVERTISING_OPERATIONS: '{"event":{"reed":"GET rest/event/{id}"}}' })
        .problems,
    ).toEqual([
      {
        source: "ADVERTISING_OPERATIONS.event.reed",
        reason: "is not a known argument; did you mean read?",
        command:
          "pulumi config set --path 'advertising:operations.event.read' 'GET rest/event/{id}'",
      },
    ]);
  });

  it.each([true, undefined])(
    "nothing of a value that may be secret is shown (secret: %s)",
    (isSecret) => {
      const secret = "geheim";
      for (const value of [
        secret,
        [secret],
        { [secret]: {} },
        { event: secret },
        { event: { [secret]: 1, read: secret } },
        { event: { read: `GET https://x.example/{id}?key=${secret}` } },
        { advertiser: { search: [secret] }, resendAfterSeconds: secret },
      ]) {
        const { problems } = operations(value, {}, { isSecret: () => isSecret });
        expect(problems).not.toEqual([]);
        expect(JSON.stringify(problems)).not.toContain(secret);
      }
      const others = { authMode: secret, markField: "a b", email: "a b", cookieFile: "~x" };
      const { problems } = read(
        { ...complete, ...others },
        {},
        { isSecret: () => isSecret },
      );
      for (const { reason } of problems) expect(reason).toMatch(/; got another value$/);
      expect(problems).toHaveLength(4);
    },
  );

  it("an unknown name in a value that may be secret is reported by its place, and by the name that may be meant", () => {
    const { problems } = operations({ event: { foo: "x", "a.b": 1 }, evnt: {} });
    const sentences = problems.map(({ source, reason }) => `${source} ${reason}`);
    const inEvent =
      "advertising:operations.event has an unknown name; expected one of read, update, delete, search";
    expect(sentences).toEqual([
      inEvent,
      inEvent,
      "advertising:operations has an unknown name; did you mean event?",
    ]);
  });

  it("what was got is said if it isn't secret, except a text that may contain credentials", () => {
    const isSecret = () => false;
    const reasonsOf = (value: unknown) =>
      operations(value, {}, { isSecret }).problems.map(({ reason }) => reason);
    expect(reasonsOf("none")).toEqual([expect.stringMatching(/; got the string "none"$/)]);
    expect(reasonsOf([])).toEqual([expect.stringMatching(/; got a list$/)]);
    expect(
      reasonsOf({ event: { read: "GET rest/event?key=1", update: "x", delete: 1 } }),
    ).toEqual([
      expect.stringMatching(/with \{id\}$/),
      expect.stringMatching(/; got the string "x"$/),
      expect.stringMatching(/; got 1$/),
    ]);
  });

  it("all problems are reported at once, each with its path, and the command that removes it", () => {
    const listed = {
      events: { read: "GET rest/event/{id}" },
      resendAfterSeconds: -1,
      createdVisibleAfterSeconds: "never",
      event: {
        reed: "GET rest/event/{id}",
        read: "POST rest/event/{id}",
        update: ["PUT rest/event"],
      },
      advertiser: "GET",
    };
    const { problems } = operations(listed, {}, { isSecret: () => false });
    expect(
      problems.map(
        ({ source, reason }) =>
          `${source.replace("advertising:operations.", "")} ${reason}`,
      ),
    ).toEqual([
      'advertiser expected an object of read, update, delete, search; got the string "GET"',
      "event.read expected GET and a path with {id}",
      "event.update expected PUT or PATCH or POST and a path with {id}; got a list",
      "event.reed is not a known argument; did you mean read?",
      "resendAfterSeconds expected whole seconds from 0 to 86400 (1 day), or never; got -1",
      'createdVisibleAfterSeconds expected whole seconds from 0 to 86400 (1 day); got the string "never"',
      "events is not a known argument; did you mean event?",
    ]);
    for (const { source, command } of problems)
      expect(command).toBe(`pulumi config rm --path '${source}'`);
    expect(
      operations({ event: { search: "GET rest/event?alternative_id={mark}" } }).problems,
    ).toEqual([
      {
        source: "advertising:operations",
        reason: "has a search, which needs markField, where each create carries its mark",
        command: "pulumi config set advertising:markField alternative_id",
      },
    ]);
  });

  it.each([
    ["GET rest/event", "expected GET and a path with {id}"],
    ["GET rest/event/{event_id}", "might point outside the base URL"],
    ["GET rest/event/{id}?{mark}", "might point outside the base URL"],
    ...[
      "/evil.example/{id}",
      "https://evil.example/{id}",
      "../event/{id}",
      "a/../../{id}",
      "a/%2e%2E/{id}",
    ].map((path) => [
      `GET /${path}`,
      "might point outside the base URL; expected a plain path below it, without a host, .. or #",
    ]),
    ...["a/..%2f{id}", "a\\{id}", "a//{id}", "{id}#a"].map((path) => [
      `GET ${path}`,
      "might point outside the base URL",
    ]),
  ])("the read %s is refused", (text, message) => {
    expect(problemsOf({ event: { read: text } })).toEqual([
      expect.stringContaining(`event.read ${message}`),
    ]);
  });

  it.each([
    "POST rest/event?id={id}",
    "POST rest/event;v=1?id={id}",
    "POST rest/event/;{id}",
    "POST rest/event{id}",
  ])("%s, which a server could take for a create, is refused", (text) => {
    for (const name of ["update", "delete"])
      expect(problemsOf({ event: { [name]: text } })).toEqual([
        expect.stringContaining(`event.${name} could be the path of a create`),
      ]);
  });

  it.each([
    ["update", "POST rest/event/{id}"],
    ["update", "POST rest/event/{id};v=1"],
    ["update", "PATCH rest/event?id={id}"],
    ["delete", "POST rest/event/{id}/delete?really=1"],
    ["delete", "DELETE rest/advertiser/7/event/{id}"],
  ])("the %s %s is taken", (name, text) => {
    expect(problemsOf({ event: { [name]: text } })).toEqual([]);
  });
});

describe("the proxy", () => {
  const proxyOf = (environment: Record<string, string>, baseUrl = complete.baseUrl) =>
    read({ ...complete, baseUrl }, environment);
  const [p, q] = ["http://p.test:1", "http://q.test:1"];

  it.each<[Record<string, string>, string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ ALL_PROXY: p, NO_PROXY: "*" }, undefined, undefined],
    [{ https_proxy: `${p}/` }, `${p}/`, "https_proxy"],
    [{ HTTPS_PROXY: " https://P.test " }, "https://p.test/", "HTTPS_PROXY"],
    [{ HTTPS_PROXY: p, https_proxy: q }, `${q}/`, "https_proxy"],
    [{ HTTPS_PROXY: p, https_proxy: "" }, `${p}/`, "HTTPS_PROXY"],
    [{ HTTPS_PROXY: p, HTTP_PROXY: q }, `${p}/`, "HTTPS_PROXY"],
    [{ HTTPS_PROXY: "", HTTP_PROXY: q }, `${q}/`, "HTTP_PROXY"],
    // Without a scheme, as curl takes it.
    [{ HTTPS_PROXY: "p.test:3128" }, "http://p.test:3128/", "HTTPS_PROXY"],
    [{ https_proxy: " 10.0.0.1:8080/ " }, "http://10.0.0.1:8080/", "https_proxy"],
    [{ HTTPS_PROXY: "[::1]:3128" }, "http://[::1]:3128/", "HTTPS_PROXY"],
  ])("of %o is the first that has a value", (environment, url, variable) => {
    const { proxy, problems } = proxyOf(environment);
    expect(problems).toEqual([]);
    expect([proxy?.url, proxy?.variable]).toEqual([url, variable]);
  });

  it("has the list of exceptions unchanged, and none for this machine, where it is not looked at", () => {
    expect(proxyOf({ HTTPS_PROXY: p, NO_PROXY: "a, .b *.c:8" }).proxy?.noProxy).toBe(
      "a, .b *.c:8",
    );
    for (const no_proxy of ["", " "])
      expect(proxyOf({ HTTPS_PROXY: p, NO_PROXY: "a", no_proxy }).proxy?.noProxy).toBe("a");
    for (const baseUrl of [
      "http://localhost:8787",
      "https://127.1.2.3",
      "http://[::1]:8787",
    ])
      expect(proxyOf({ HTTPS_PROXY: "nonsense" }, baseUrl)).toMatchObject({
        proxy: undefined,
        problems: [],
      });
  });

  it.each([
    ["10.1.2.3", "10.0.0.0/8", true],
    ["10.1.2.3", "a.example, 10.1.0.0/16 b", true],
    ["[fd00::1]", "fd00::/8", true],
    ["10.1.2.3", "11.0.0.0/8,10.1.2.4/32", false],
    ["10.1.2.3", "10.0.0.0/33,10.0.0.0/,/0,x/8", false],
    ["10.1.2.3", "fe80::/10", false],
    ["fd00.example", "0.0.0.0/0", false],
  ])("of %s with NO_PROXY %s: a network is understood", (host, NO_PROXY, isDirect) => {
    const { proxy, problems } = proxyOf({ HTTPS_PROXY: p, NO_PROXY }, `https://${host}`);
    expect([proxy === undefined, problems]).toEqual([isDirect, []]);
  });

  it.each([
    "geheim",
    "user:geheim",
    "user:geheim@p.test",
    "socks5://user:geheim@p.test:1080",
    "http://p.test/geheim",
    // The password is not encoded: its rest would be read as a fragment, or a path.
    "http://user:47#geheim@p.test:3128",
    "http://user:47\\geheim@p.test:3128",
    "http://user:geheim%@p.test:3128",
    "http://user%ff:geheim@p.test:3128",
  ])("can't be %s: the problem names the variable, never the value", (value) => {
    const { proxy, problems } = proxyOf({ http_proxy: value });
    expect(proxy).toBeUndefined();
    expect(problems).toMatchObject([
      { source: "http_proxy", command: "export http_proxy=http://proxy.example.com:3128" },
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/geheim|47|p\.test/);
  });

  it.each<[string, string[]]>([
    ["http://p.test:1", []],
    ["http://user:pass@p.test:1", ["pass", "user:pass"]],
    ["user:pass@p.test:1", ["pass", "user:pass"]],
    [
      "http://us%65r:p%61ss%40@p.test",
      ["pass@", "p%61ss%40", "user:pass@", "us%65r:p%61ss%40"],
    ],
    [
      "http://m%C3%BCller:x%2Fy@p.test",
      ["x/y", "x%2Fy", "müller:x/y", "m%C3%BCller:x%2Fy"],
    ],
    ["http://token@p.test", ["token", "token:"]],
  ])(
    "%s has these secrets; a user name beside a password stays readable",
    (HTTPS_PROXY, secret) => {
      const secrets = proxyOf({ HTTPS_PROXY }).proxy?.secrets ?? [];
      expect(new Set(secrets)).toEqual(new Set(secret));
    },
  );

  it("has its credentials scrubbed in the provider process from its start", () => {
    const config: Record<string, string> = { baseUrl: "https://x.example", email: "a@b.c" };
    const { secrets } = createRuntime(
      (key) => config[key],
      { HTTPS_PROXY: "http://user:geheim%2F1@p.test:3128" },
      async () => {},
    );
    const header = Buffer.from("user:geheim/1").toString("base64url"); // without padding
    const text = `p.test user geheim/1 geheim%2F1 Basic ${header}`;
    expect(secrets.scrub(text)).toBe("p.test user [secret] [secret] Basic [secret]");
  });
});

it("the command that fixes a setting is about the stack of the run, which is known later than the problem", () => {
  const { problems } = read({ ...complete, authMode: "none" });
  setCommandTarget(() => ({ options: ["--stack", "dev"], isInline: false }));
  expect(problems.map((problem) => describeSettingProblem(problem))).toEqual([
    expect.stringMatching(
      / {2}pulumi config set advertising:authMode session --stack dev$/,
    ),
  ]);
  const proxy = { source: "HTTPS_PROXY", reason: "is wrong", command: "export X=1" };
  expect(describeSettingProblem(proxy)).toMatch(/ {2}export X=1$/);
  setCommandTarget(() => ({ options: [], isInline: false }));
});
