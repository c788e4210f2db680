/** The page as text; `test/package/page.test.ts` opens it in a browser. */
import { describe, expect, it } from "vitest";
import { contentsOf } from "../../provider/src/tools/contents.js";
import { pageOf } from "../../provider/src/tools/page.js";
import type { Resource } from "../../provider/src/tools/stack-export.js";
import { CIPHERTEXT, encrypted, storedAdvertiser, storedEvent, UNRESOLVED_OUTPUT } from "../support/stored.js";

const page = (resources: readonly Resource[], stack = "shop/dev") =>
  pageOf(contentsOf(resources), stack, "2026-03-02T10:00:00Z");

it("needs no network, and its policy allows none", () => {
  const text = page([storedAdvertiser("acme", 1), storedEvent("buy", 2)]);
  expect(text).toContain("default-src 'none'");
  expect(text).not.toMatch(/https?:|\bsrc=|\bhref=|@import|url\(/);
});

it("a name can't be markup, in content or in an attribute", () => {
  const name = `<script>alert(1)</script>" onclick='x' & \u0645\u0631\u062d\u0628\u0627`;
  const text = page([storedAdvertiser(name, 1), storedEvent(name, 2, { eventName: name })], name);
  expect(text.match(/<script/g)).toHaveLength(1);
  expect(text).not.toContain("onclick='x'");
  expect(text).not.toMatch(/aria-label="[^"]*" onclick/);
});

describe("what it shows", () => {
  it("no id of an object that awaits its replacement", () => {
    const text = page([storedEvent("replaced", 4711, {}, { pendingReplacement: true })]);
    expect(text).not.toContain("4711");
    expect(text).toContain(">none yet<");
    expect(text).toContain("0 unresolved");
  });

  it("unresolved resources first", () => {
    const text = page([storedEvent("ok", 2), storedEvent("open", "unresolved-x", UNRESOLVED_OUTPUT)]);
    expect(text.indexOf("Unresolved (1)")).toBeGreaterThan(0);
    expect(text.indexOf("Unresolved (1)")).toBeLessThan(text.indexOf("<bdi>ok</bdi>"));
    expect(text).toContain("2026-03-01T09:00:00.000Z");
  });

  it("when the state was written, to the minute; an unknown format unchanged", () => {
    const at = (time: string) => pageOf(contentsOf([]), "", time);
    expect(at("2026-11-22T01:39:22.494287156Z")).toContain("state of 2026-11-22 01:39 UTC<");
    expect(at("2026-11-22T01:39:22.5+01:00")).toContain("state of 2026-11-22T01:39:22.5+01:00<");
    expect(at("")).not.toContain("state of");
  });

  it("windows on a scale of 30 days", () => {
    const text = page([storedEvent("a", 2, { clickWindow: 604_800, viewWindow: 90_000_000 })]);
    expect(text).toContain("7 days<span");
    expect(text).toContain("width:23.3%");
    expect(text).toContain("width:100.0%");
  });

  it("which event types an advertiser lacks", () => {
    const text = page([
      storedAdvertiser("acme", 1),
      storedAdvertiser("bare", 3),
      storedEvent("a", 2, { eventTypeId: 0 }),
      storedEvent("b", 4, { eventTypeId: 7 }),
    ]);
    const gap = '<td class="num gap">none</td>';
    const one = '<td class="num">1</td>';
    // Purchase; landing page, which is always shown; and 7.
    expect(text).toContain(`<bdi>acme</bdi></th>${one}${gap}${one}`);
    expect(text).toContain(`<bdi>bare</bdi></th>${gap}${gap}${gap}`);
  });

  it("no secret, and no parts that would be empty", () => {
    const text = page([storedEvent("a", 2, { eventName: encrypted, clickWindow: encrypted })]);
    expect(text).toContain("(secret)");
    expect(text).not.toContain(CIPHERTEXT);
    expect(page([])).toContain("0 advertisers, 0 events, 0 unresolved");
  });
});
