/** Which cookies are sent with a request. */
import { afterEach, expect, it, vi } from "vitest";
import { SessionJar } from "../../provider/src/client/session-file.js";

const event = new URL("https://platform.example/rest/event");
const advertiser = new URL("https://platform.example/rest/advertiser");

afterEach(() => {
  vi.useRealTimers();
});

it("each request to an address sends the same cookies, but not those for another path", () => {
  const jar = new SessionJar();
  jar.store(["x_service_cookie=1; Path=/", "other=2; Path=/rest/advertiser"], event);
  expect([jar.header(event), jar.header(event)]).toEqual(["x_service_cookie=1", "x_service_cookie=1"]);
  expect(jar.header(advertiser)).toBe("other=2; x_service_cookie=1"); // the longer path first (RFC 6265, section 5.4)
  expect(jar.header(event)).toBe("x_service_cookie=1");
});

it("a request sends the newest cookies that an answer has set", () => {
  const jar = new SessionJar();
  expect(jar.header(event)).toBe("");
  jar.store(["x_service_cookie=1; Path=/"], event);
  expect(jar.header(event)).toBe("x_service_cookie=1");
  jar.store(["x_service_cookie=2; Path=/"], event);
  expect(jar.header(event)).toBe("x_service_cookie=2");
  jar.store(["x_service_cookie=; Path=/; Max-Age=0"], event);
  expect(jar.header(event)).toBe("");
});

it("a jar that was replaced with another one sends the other one's cookies", () => {
  const [jar, other] = [new SessionJar(), new SessionJar()];
  jar.store(["x_service_cookie=1; Path=/"], event);
  other.store(["x_service_cookie=2; Path=/"], event);
  expect(jar.header(event)).toBe("x_service_cookie=1");
  jar.replaceWith(other);
  expect(jar.header(event)).toBe("x_service_cookie=2");
});

it("a cookie that has expired since the last request is not sent", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  const jar = new SessionJar();
  jar.store(["a_service_cookie=1; Path=/; Expires=Thu, 01 Jan 2026 00:01:00 GMT", "b=2; Path=/"], event);
  expect(jar.header(event)).toBe("a_service_cookie=1; b=2");
  vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 1));
  expect(jar.header(event)).toBe("b=2");
});
