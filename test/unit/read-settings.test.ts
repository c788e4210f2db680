/** The proxy from the environment, as both processes read it. */
import { describe, expect, it } from "vitest";
import { createRuntime } from "../../provider/src/provider/runtime.js";
import { readSettings } from "../../provider/src/settings/read-settings.js";

function read(environment: Record<string, string>, baseUrl = "https://x.example", mayLackPassword = false) {
  const config: Record<string, string> = { baseUrl, email: "a@b.c", password: "pw" };
  return readSettings({ config: (key) => config[key], environment, mayLackPassword });
}

describe("which variable counts, as for undici's own agent", () => {
  it.each<[Record<string, string>, string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ NO_PROXY: "*" }, undefined, undefined],
    [{ ALL_PROXY: "http://p.test:1" }, undefined, undefined],
    [{ HTTPS_PROXY: "http://p.test:1" }, "http://p.test:1/", "HTTPS_PROXY"],
    [{ https_proxy: "http://p.test:1/" }, "http://p.test:1/", "https_proxy"],
    [{ HTTPS_PROXY: " https://P.test " }, "https://p.test/", "HTTPS_PROXY"],
    [{ HTTPS_PROXY: "http://p.test:1", https_proxy: "http://q.test:1" }, "http://q.test:1/", "https_proxy"],
    [{ HTTPS_PROXY: "http://p.test:1", https_proxy: "" }, undefined, undefined],
    [{ HTTPS_PROXY: "http://p.test:1", HTTP_PROXY: "http://q.test:1" }, "http://p.test:1/", "HTTPS_PROXY"],
    [{ HTTPS_PROXY: "", HTTP_PROXY: "http://q.test:1" }, "http://q.test:1/", "HTTP_PROXY"],
    [{ http_proxy: "http://[::1]:1" }, "http://[::1]:1/", "http_proxy"],
  ])("%o", (environment, url, variable) => {
    const { proxy, problems } = read(environment);
    expect(problems).toEqual([]);
    expect([proxy?.url, proxy?.variable]).toEqual([url, variable]);
  });

  it("the list of exceptions is passed on unchanged", () => {
    const HTTPS_PROXY = "http://p.test:1";
    expect(read({ HTTPS_PROXY }).proxy?.noProxy).toBe("");
    expect(read({ HTTPS_PROXY, NO_PROXY: "a, .b *.c:8" }).proxy?.noProxy).toBe("a, .b *.c:8");
    expect(read({ HTTPS_PROXY, NO_PROXY: "a", no_proxy: "b" }).proxy?.noProxy).toBe("b");
    expect(read({ HTTPS_PROXY, NO_PROXY: "a", no_proxy: "" }).proxy?.noProxy).toBe("");
  });

  it.each(["http://localhost:8787", "http://127.0.0.1:8787/p", "https://127.1.2.3", "http://[::1]:8787"])(
    "%s is this machine: no proxy is used, or checked",
    (baseUrl) => {
      expect(read({ HTTPS_PROXY: "http://p.test:1", HTTP_PROXY: "http://p.test:1" }, baseUrl).proxy).toBeUndefined();
      expect(read({ HTTPS_PROXY: "nonsense" }, baseUrl).problems).toEqual([]);
    },
  );
});

describe("an invalid proxy address is a problem that names the variable, never the value", () => {
  it.each([
    "geheim",
    "p.test:3128",
    "user:geheim@p.test:3128",
    "socks5://user:geheim@p.test:1080",
    "ftp://geheim.test",
    "http://",
    "http:p.test",
    "http://user:geheim@p.test:99999",
    "http://p.test/geheim",
    "http://p.test?geheim",
    // The password is not encoded: its rest would be read as a host, a path or a fragment.
    "http://user:47#geheim@p.test:3128",
    "http://user:47/geheim@p.test:3128",
    "http://user:47?geheim@p.test:3128",
    "http://user:47\\geheim@p.test:3128",
    "http://user:geheim%@p.test:3128",
    "http://user%ff:geheim@p.test:3128",
  ])("%s", (value) => {
    for (const [name, mayLackPassword] of [
      ["HTTPS_PROXY", false],
      ["http_proxy", true],
    ] as const) {
      const { proxy, problems } = read({ [name]: value }, undefined, mayLackPassword);
      expect(proxy).toBeUndefined();
      expect(problems).toEqual([
        {
          source: name,
          reason: expect.stringContaining("http:// or https://"),
          command: `export ${name}=http://proxy.example.com:3128`,
        },
      ]);
      expect(JSON.stringify(problems)).not.toMatch(/geheim|47|p\.test/);
    }
  });

  it("comes with all other problems of the settings, a wrong baseUrl included", () => {
    const { problems } = read({ HTTPS_PROXY: "geheim", ADVERTISING_AUTH_MODE: "digest" }, "http://x.example");
    expect(problems.map(({ source }) => source)).toEqual([
      "advertising:baseUrl",
      "ADVERTISING_AUTH_MODE",
      "HTTPS_PROXY",
    ]);
  });
});

describe("credentials", () => {
  it.each<[string, string[], string[]]>([
    ["http://p.test:1", [], ["p.test:1"]],
    ["http://user:pass@p.test:1", ["pass", "user:pass"], ["user"]],
    ["http://us%65r:p%61ss%40@p.test", ["pass@", "p%61ss%40", "user:pass@", "us%65r:p%61ss%40"], ["user"]],
    ["http://user:p@ss:w@p.test", ["p@ss:w", "user:p@ss:w"], ["user"]],
    ["http://m%C3%BCller:x%2Fy@p.test", ["x/y", "x%2Fy", "müller:x/y"], ["müller"]],
    ["http://token@p.test", ["token"], []],
    ["http://:pass@p.test", ["pass"], []],
  ])("%s: the spellings that are secret", (HTTPS_PROXY, secret, readable) => {
    const secrets = read({ HTTPS_PROXY }).proxy?.secrets ?? [];
    expect(secrets).toEqual(expect.arrayContaining(secret));
    for (const word of readable) expect(secrets).not.toContain(word);
    expect(secrets).not.toContain("");
  });

  it("are not in the name that messages give the proxy", () => {
    expect(read({ HTTPS_PROXY: "http://user:geheim@p.test:3128" }).proxy?.host).toBe("p.test:3128");
  });

  it("are scrubbed in the provider's process from its start", () => {
    const config: Record<string, string> = { baseUrl: "https://x.example", email: "a@b.c" };
    const { secrets } = createRuntime((key) => config[key], { HTTPS_PROXY: "http://user:geheim%2F1@p.test:3128" });
    const header = Buffer.from("user:geheim/1").toString("base64url"); // without padding
    expect(secrets.scrub(`p.test user geheim/1 geheim%2F1 Basic ${header}`)).toBe(
      "p.test user [secret] [secret] Basic [secret]",
    );
  });
});
