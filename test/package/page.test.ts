/** `report page`, looked at in a real browser. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import chromium from "@sparticuz/chromium";
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from "playwright-core";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { LEFT_LIVE } from "../../provider/src/state/stored.js";
import { contentsOf, type Resource, readExport } from "../../provider/src/tools/contents.js";
import { leftoversOf } from "../../provider/src/tools/leftovers.js";
import { pageOf } from "../../provider/src/tools/page.js";
import { newFolder } from "../support/folder.js";
import { exportOf, storedAdvertiser, storedEvent, UNRESOLVED_OUTPUT } from "../support/stored.js";

/** Or why none starts here. */
let browser: Browser | string;
beforeAll(async () => {
  try {
    // Not the switches that the package proposes: with its single process, a second context ends the browser.
    const args = ["--no-sandbox", "--disable-gpu"];
    browser = await playwright.launch({ executablePath: await chromium.executablePath(), args });
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
  const advertisers = Array.from({ length: Math.ceil(events / 100) }, (_, i) => storedAdvertiser(`acme-${i}`, i + 1));
  const left = { [LEFT_LIVE]: [{ id: "77", name: NAMES[0], at: "2026-03-01T00:00:00.000Z" }] };
  return [
    ...advertisers,
    ...Array.from({ length: events }, (_, i) =>
      storedEvent(`event-${i}`, 10_000 + i, {
        eventName: NAMES[i] ?? `Event ${i}`,
        advertiserId: (i % advertisers.length) + 1,
        eventTypeId: i % 3,
        clickWindow: 86_400 * ((i % 30) + 1),
      }),
    ),
    storedEvent("funnel/of/newsletters", "9007199254740993", { eventName: "Newsletter sign-up", ...left }),
    storedEvent("open", "unresolved-x", UNRESOLVED_OUTPUT),
  ];
}

async function open(context: TestContext, events: number, options: BrowserContextOptions = {}): Promise<Page> {
  if (typeof browser === "string") return context.skip(browser);
  const [file, shown] = [join(newFolder(), "page.html"), resources(events)];
  const leftovers = leftoversOf(readExport(exportOf(shown)), []);
  writeFileSync(file, pageOf(contentsOf(shown), { stack: "shop/dev", time: "2026-03-02T10:00:00Z", leftovers }));
  const page = await (await browser.newContext(options)).newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(pathToFileURL(file).href);
  expect(requests).toEqual([pathToFileURL(file).href]);
  expect(errors).toEqual([]);
  expect(await page.title()).toBe("Conversion events of shop/dev");
  return page;
}

const DESKTOP = { viewport: { width: 1280, height: 900 } };

it.for([
  [320, 30],
  [360, 3000],
  [768, 30],
  [1280, 3000],
  [1920, 1],
])(
  "%i wide, %i events: nothing is wider than the screen, no word is cut in two, everything is there",
  async ([width = 0, events = 0], context) => {
    const page = await open(context, events, { viewport: { width, height: 800 } });
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    expect(await page.evaluate<string[]>(CUT_WORDS)).toEqual([]);
    const keys = await page.locator("section[aria-labelledby=events] tr[data-row] th").allTextContents();
    expect(keys).toHaveLength(events + 2);
    expect(keys.slice(0, events)).toEqual(Array.from({ length: events }, (_, i) => `event-${i}`));
    expect(await page.locator("section[aria-labelledby=left] tr[data-row]").allTextContents()).toEqual([
      `funnel/of/newslettersConversionEvent${NAMES[0]}77replaced (2026-03-01T00:00:00.000Z)`,
    ]);
    await page.context().close();
  },
);

/** Runs in the page: words of the tables that take more than one line, but for those that are too long for any. */
const CUT_WORDS = `[...document.querySelectorAll("main :is(th, td) bdi, main td:not(:has(*)), main td code")].flatMap((element) => {
  return [...element.childNodes].filter(({ nodeType }) => nodeType === 3).flatMap((text) => [...text.textContent.matchAll(/(?<=^|[\\s/])[a-zA-Z0-9]+(?=$|[\\s/-])/g)].flatMap(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return word.length < 18 && range.getClientRects().length > 1 ? [word] : [];
  }));
})`;

it("by keyboard alone: filter, tell how many, go back, copy an id", async (context) => {
  const page = await open(context, 300, { permissions: ["clipboard-read", "clipboard-write"], ...DESKTOP });
  await page.keyboard.press("Tab");
  await page.keyboard.type("event-29 acme-2");
  const shown = page.locator("section[aria-labelledby=events] tr[data-row]:visible");
  await expect.poll(() => shown.count()).toBe(5); // 29, 290, 293, 296 and 299
  expect(await page.getByRole("status").textContent()).toMatch(/^\d+ of \d+ shown$/);
  await page.keyboard.press("Escape");
  await expect.poll(() => shown.count()).toBe(302);
  await page.getByRole("button", { name: "Copy the id 10029 of event-29", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("status").textContent()).toBe("Copied 10029");
  await page.context().close();
});

/** Runs in the page: what has text of its own whose contrast, as WCAG 2 computes it, is below 4.5. */
const LOW_CONTRASTS = `(() => {
  const channels = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    if (element === null) return [255, 255, 255];
    const color = channels(getComputedStyle(element).backgroundColor);
    return color[3] === 0 ? behind(element.parentElement) : color;
  };
  return [...document.querySelectorAll("body *")].flatMap((element) => {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (!hasText || element.tagName === "SCRIPT") return [];
    const [a, b] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return ratio < 4.5 ? [element.tagName + " " + element.className + ": " + ratio.toFixed(2)] : [];
  });
})()`;

it.for(["light", "dark"] as const)("%s: all text has a contrast of at least 4.5 to 1", async (colorScheme, context) => {
  const page = await open(context, 5, { colorScheme, ...DESKTOP });
  expect(await page.evaluate<string[]>(LOW_CONTRASTS)).toEqual([]);
  await page.context().close();
});

it("on paper: no tools, every event", async (context) => {
  const page = await open(context, 40, DESKTOP);
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("button:visible, input:visible").count()).toBe(0);
  expect(await page.locator("section[aria-labelledby=events] tr[data-row]:visible").count()).toBe(42);
  await page.context().close();
});
