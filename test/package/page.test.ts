/** `report page`, looked at in a real browser. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Browser,
  type BrowserContextOptions,
  type Page,
  chromium as playwright,
} from "playwright-core";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { pageOf } from "../../provider/src/cli/page.js";
import { type Resource, readExport } from "../../provider/src/record/export.js";
import { LEFT_LIVE } from "../../provider/src/state/stored.js";
import { fetchTool } from "../../scripts/lib/tools.mjs";
import { newFolder } from "../support/folder.js";
import {
  exportOf,
  storedAdvertiser,
  storedEvent,
  UNRESOLVED_OUTPUT,
} from "../support/stored.js";

/** Or why none starts here. */
let browser: Browser | string;
beforeAll(async () => {
  try {
    // Not the switches that the package proposes: with its single process, a second context ends the browser.
    const args = ["--no-sandbox", "--disable-gpu"];
    const { default: chromium } = await import(
      join(await fetchTool("@sparticuz/chromium"), "build", "index.js")
    );
    browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      args,
    });
  } catch (error) {
    browser = `no browser starts here (that of @sparticuz/chromium runs on Linux only): ${error}`;
  }
});
afterAll(async () => {
  if (typeof browser !== "string") await browser.close();
});

const NAMES = [
  "<script>document.title='broken'</script>",
  "\u0634\u0631\u0627\u0621 \u0645\u0631",
  "x".repeat(99),
  "Long words ".repeat(9),
];

/** With long, right-to-left and hostile names among them. */
function resources(events: number): Resource[] {
  const advertisers = Array.from({ length: Math.ceil(events / 100) }, (_, i) =>
    storedAdvertiser(`acme-${i}`, i + 1),
  );
  const left = {
    [LEFT_LIVE]: [{ id: "77", name: NAMES[0], at: "2026-03-01T00:00:00.000Z" }],
  };
  return [
    ...advertisers,
    ...Array.from({ length: events }, (_, i) =>
      storedEvent(`event-${i}`, 10_000 + i, {
        eventName: NAMES[i] ?? `Event ${i}`,
        advertiserId: (i % advertisers.length) + 1,
        eventTypeId: i % 3,
        value: [9.5, 100, -1, 9.25, 0][i % 5],
        clickWindow: 3600 * ((i % 30) + 1),
      }),
    ),
    storedEvent("funnel/of/newsletters", "9007199254740993", {
      eventName: "Newsletter sign-up",
      ...left,
    }),
    storedEvent("open", "unresolved-x", UNRESOLVED_OUTPUT),
  ];
}

async function open(
  context: TestContext,
  events: number,
  options: BrowserContextOptions = {},
): Promise<Page> {
  if (typeof browser === "string") return context.skip(browser);
  const [file, shown] = [join(newFolder(), "page.html"), resources(events)];
  writeFileSync(file, pageOf(readExport(exportOf(shown))));
  const page = await (await browser.newContext(options)).newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(pathToFileURL(file).href);
  expect(requests).toEqual([pathToFileURL(file).href]);
  expect(errors).toEqual([]);
  expect(await page.title()).toBe("Conversion events");
  return page;
}

it.for([
  [320, 30],
  [768, 30],
  [1199, 30],
  [1200, 30],
  [1280, 3000],
])(
  "%i wide, %i events: nothing is wider than the screen, and everything is there",
  async ([width = 0, events = 0], context) => {
    const page = await open(context, events, { viewport: { width, height: 800 } });
    expect(
      await page.evaluate<number>("document.documentElement.scrollWidth"),
    ).toBeLessThanOrEqual(width);
    const keys = await page
      .locator("section[aria-label=events] tr[data-row] td:first-child")
      .allTextContents();
    expect(keys).toHaveLength(events + 2);
    expect(keys.slice(0, events)).toEqual(
      Array.from({ length: events }, (_, i) => `event-${i}`),
    );
    expect(
      await page.locator("section[aria-label='Left live'] tr[data-row]").allTextContents(),
    ).toEqual([
      `funnel/of/newslettersConversionEvent${NAMES[0]}77Copyleft the state at 2026-03-01T00:00:00.000Z; may be live`,
    ]);
    await page.context().close();
  },
);

const cellsOf = (page: Page, column: number) =>
  page
    .locator(`section[aria-label=events] tr[data-row] td:nth-child(${column})`)
    .allTextContents();

it("sorts by any column, numbers and windows by what they are, and what is empty last", async (context) => {
  const page = await open(context, 5, { viewport: { width: 1280, height: 800 } });
  const heading = page.locator("section[aria-label=events] th", { hasText: "Value" });
  const sort = async (name: string) => {
    await page
      .locator("section[aria-label=events]")
      .getByRole("button", { name, exact: true })
      .focus();
    await page.keyboard.press("Enter");
  };
  await sort("Value");
  expect(await cellsOf(page, 6)).toEqual(["-1", "0", "1", "1", "9.25", "9.5", "100"]);
  expect(await heading.getAttribute("aria-sort")).toBe("ascending");
  await sort("Value");
  expect(await cellsOf(page, 6)).toEqual(["100", "9.5", "9.25", "1", "1", "0", "-1"]);
  await sort("Click window");
  expect(await heading.getAttribute("aria-sort")).toBeNull();
  expect(await cellsOf(page, 7)).toEqual([
    "3600 (1 hour)",
    "7200 (2 hours)",
    "10800 (3 hours)",
    "14400 (4 hours)",
    "18000 (5 hours)",
    "2592000 (30 days)",
    "2592000 (30 days)",
  ]);
  await sort("Type");
  await sort("Type");
  const [purchase, landing] = ["0 (Purchase)", "1 (LandingPage)"];
  expect(await cellsOf(page, 5)).toEqual([
    "2",
    landing,
    landing,
    purchase,
    purchase,
    "",
    "",
  ]);
  await page.context().close();
});

it("keeps the filter and the headings in sight; on a narrow screen each value has its heading", async (context) => {
  const page = await open(context, 300, { viewport: { width: 1280, height: 800 } });
  const heading = page.locator("section[aria-label=events] th").first();
  const last = page.getByRole("button", {
    name: "Copy the id 10299 of event-299",
    exact: true,
  });
  await last.scrollIntoViewIfNeeded();
  const boxes = await Promise.all(
    [page.locator("#filter"), heading].map((each) => each.boundingBox()),
  );
  for (const box of boxes) expect(box?.y).toBeGreaterThanOrEqual(0);
  expect(boxes[1]?.y).toBeGreaterThanOrEqual((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0));
  await page.setViewportSize({ width: 320, height: 800 });
  const labelOf = (column: number) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector("section[aria-label=events] td:nth-child(${column})"), "::before").content`,
    );
  expect([await labelOf(3), await labelOf(7)]).toEqual(['"Advertiser"', '"Click window"']);
  await page.locator("#filter").fill("no such event");
  expect(await page.locator("section:visible").count()).toBe(0);
  expect(await page.getByRole("status").textContent()).toMatch(/^0 of \d+ shown$/);
  await page.context().close();
});

it("by keyboard alone: filter, tell how many, go back, copy an id; on paper every event, and no tools", async (context) => {
  const page = await open(context, 300, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.keyboard.press("Tab");
  await page.keyboard.type("event-29 acme-2");
  const shown = page.locator("section[aria-label=events] tr[data-row]:visible");
  await expect.poll(() => shown.count()).toBe(5); // 29, 290, 293, 296 and 299
  expect(await page.getByRole("status").textContent()).toMatch(/^\d+ of \d+ shown$/);
  await page.keyboard.press("Escape");
  await expect.poll(() => shown.count()).toBe(302);
  await page
    .getByRole("button", { name: "Copy the id 10029 of event-29", exact: true })
    .focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("status").textContent()).toBe("Copied 10029");
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("td button:visible, input:visible").count()).toBe(0);
  expect(await page.locator("section[aria-label=events] th").first().innerText()).toBe(
    "Event",
  );
  expect(await shown.count()).toBe(302);
  await page.context().close();
});
