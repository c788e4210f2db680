/**
 * What a program's types allow and refuse, as `tsc` sees the package: this file is never run. Each `@ts-expect-error`
 * is an error itself where the line below it is right. `npm test` checks it, and the package's tests check it once more
 * against the installed package, under each way that TypeScript has to find modules.
 */
import * as pulumi from "@pulumi/pulumi";
import {
  Advertiser,
  type AdvertiserArgs,
  type AdvertiserReference,
  Attribution,
  Catalog,
  type CatalogArgs,
  ConversionEvent,
  type ConversionEventArgs,
  type ConversionEventReference,
  ConversionEventSet,
  days,
  EventType,
  hours,
  type Problem,
  validate,
} from "pulumi-advertising";
import { advertiser, conversionEvent } from "pulumi-advertising/handlers";
import { type Sandbox, startSandbox } from "pulumi-advertising/sandbox";
import {
  type DeclaredResource,
  type Mocks,
  outputOf,
  setMocks,
} from "pulumi-advertising/testing";

const config = new pulumi.Config();

const args: AdvertiserArgs = {
  advertiserName: pulumi.output("Acme Shoes"),
  additionalFields: { active: true },
};
const acme = new Advertiser("acme", args, { protect: true });
const eventArgs: ConversionEventArgs = {
  eventName: "Purchase",
  advertiserId: acme.advertiserId,
  value: 25,
  eventTypeId: EventType.Purchase,
  segmentId: 7,
  countUnique: true,
  clickWindow: days(7),
  viewWindow: hours(1),
  attribution: Attribution.Whitelist,
};
const purchase = new ConversionEvent("purchase", eventArgs);
new ConversionEvent("gone", { ...eventArgs, deletionPolicy: "delete" });
// @ts-expect-error
new ConversionEvent("kept", { ...eventArgs, deletionPolicy: "keep" });
new ConversionEvent("other", {
  ...eventArgs,
  eventTypeId: 12,
  attribution: "WHITELIST",
  existingId: 4,
});

// Ids, as a program comes by them: no cast.
const existing = Advertiser.get("existing", "7");
export const ids: ConversionEventArgs["advertiserId"][] = [
  ...[
    acme,
    existing,
    pulumi.output(acme),
    Promise.resolve(existing),
    acme.id,
    acme.advertiserId,
  ],
  ...[
    config.require("advertiser"),
    config.requireNumber("advertiser"),
    config.requireSecret("advertiser"),
  ],
];
export const more: ConversionEventArgs["existingId" | "segmentId"][] = [
  config.require("event"),
  config.requireSecretNumber("segment"),
];
new Advertiser("adopted", { advertiserName: "Acme", existingId: acme.id });
Advertiser.get("by-number", 7);
Advertiser.get("by-output", acme.advertiserId);
ConversionEvent.get("by-id", purchase.id, { parent: acme });

// Outputs.
export const given: pulumi.Output<number>[] = [
  acme.advertiserId,
  purchase.eventId,
  existing.advertiserId,
];
export const name: pulumi.Output<string> = purchase.eventName;
export const optionalOutput: pulumi.Output<number | undefined> = purchase.segmentId;
export const attribution: pulumi.Output<Attribution> = purchase.attribution;

// What .get() refers to: a resource like any other, of which only the id is known.
const event: ConversionEventReference = ConversionEvent.get("event", "8");
export const known: pulumi.Output<number> = event.eventId;
export const perhaps: pulumi.Output<string | undefined>[] = [
  existing.advertiserName,
  event.eventName,
];
export const resources: pulumi.CustomResource[] = [acme, existing, purchase, event];
export const either: AdvertiserReference[] = [acme, existing];
new Advertiser(
  "after",
  { advertiserName: "Acme" },
  { dependsOn: [existing, event], parent: existing },
);

// What is optional may turn out to be nothing.
declare const maybe: pulumi.Output<number | undefined>;
const optional: Partial<ConversionEventArgs> = {
  eventTypeId: purchase.eventTypeId,
  segmentId: maybe,
  countUnique: event.countUnique,
  clickWindow: config.getSecretNumber("window") ?? maybe,
  viewWindow: undefined,
  attribution: event.attribution,
  existingId: maybe,
  additionalFields: purchase.additionalFields,
};
new ConversionEvent("maybe", { ...eventArgs, ...optional });
const { existingId, additionalFields } = acme;
new Advertiser("maybe", { advertiserName: "Acme", existingId, additionalFields });
const events = {
  purchase: { eventName: "Purchase", value: 25, existingId: maybe, clickWindow: undefined },
};
new ConversionEventSet("maybe", {
  advertiserId: acme,
  defaults: pulumi.output(undefined),
  events,
});

// Event types: the known ones, and any other number.
export const eventTypes: EventType[] = [EventType.Purchase, EventType.LandingPage, 0, 1];
for (const eventTypeId of [
  12,
  pulumi.output(EventType.LandingPage),
  config.requireNumber("eventType"),
])
  new ConversionEvent("typed", { ...eventArgs, eventTypeId });

// Data files.
const file: CatalogArgs = { file: "catalog.yaml" };
const shop = new Catalog("shop", file, { protect: true, parent: acme });
export const byKey: pulumi.Output<Record<string, number>>[] = [
  shop.advertiserIds,
  shop.eventIds,
];
export const one: pulumi.Output<number | undefined> = shop.eventIds.apply(
  (all) => all.purchase,
);

const unknown: unknown = purchase;
if (Catalog.isInstance(unknown)) unknown.eventIds.apply(Object.keys);
if (Advertiser.isInstance(unknown))
  unknown.advertiserId.apply((id: number) => id.toFixed());
if (ConversionEvent.isInstance(unknown)) unknown.value.apply((value) => value?.toFixed(2));
// What is known to be declared stays so.
declare const declared: ConversionEvent | Advertiser;
if (ConversionEvent.isInstance(declared))
  declared.value.apply((value: number) => value.toFixed(2));

export const handlers: pulumi.dynamic.ResourceProvider[] = [advertiser, conversionEvent];

export async function tryOut(): Promise<number> {
  const sandbox: Sandbox = await startSandbox({ port: 0, latencyMs: 5 });
  await sandbox.close();
  return sandbox.logins + sandbox.advertiserPosts + sandbox.url.length;
}

/** As `@pulumi/policy` declares it. */
declare function validateResourceOfType<TResource extends pulumi.Resource, TArgs>(
  resourceClass: new (name: string, args: TArgs, ...rest: never[]) => TResource,
  validate: (args: pulumi.Unwrap<NonNullable<TArgs>>) => void,
): void;
validateResourceOfType(ConversionEvent, (checked) => {
  const window: number | undefined = checked.clickWindow;
  const text: string = checked.eventName;
  if (
    window === undefined ||
    text === "" ||
    checked.advertiserId === 7 ||
    checked.eventTypeId === 0
  )
    throw new Error();
});

// @ts-expect-error the name is missing
new Advertiser("b", {});
// @ts-expect-error not an argument
new Advertiser("b", { advertiserName: "B", advertiserId: 3 });
// @ts-expect-error not one of the values
new ConversionEvent("c", { ...eventArgs, attribution: "SOME" });
// @ts-expect-error a number as text, and no id
new ConversionEvent("c", { ...eventArgs, value: "7" });
// @ts-expect-error an event is no advertiser
new ConversionEvent("c", { ...eventArgs, advertiserId: purchase });
// @ts-expect-error nor is one that is only known by its id
new ConversionEvent("c", { ...eventArgs, advertiserId: event });
// @ts-expect-error an advertiser is neither a segment nor the id of an event
new ConversionEvent("c", { ...eventArgs, existingId: acme });
// @ts-expect-error an id is no truth
new ConversionEvent("c", { ...eventArgs, advertiserId: true });
// @ts-expect-error the name of an event type
new ConversionEvent("c", { ...eventArgs, eventTypeId: "Purchase" });
// @ts-expect-error not a known event type
export const eventType: EventType = 2;
// @ts-expect-error of what .get() refers to, the name is not known
export const certain: pulumi.Output<string> = existing.advertiserName;
if (ConversionEvent.isInstance(unknown)) {
  // @ts-expect-error it may be one that .get() refers to
  unknown.value.apply((value: number) => value.toFixed(2));
}
// @ts-expect-error the name is not optional
new Advertiser("b", { advertiserName: existing.advertiserName });
new ConversionEventSet("s", {
  advertiserId: 1,
  events: { b: { eventName: "B", value: 1, formerKey: "a" } },
});
new ConversionEventSet("s", {
  advertiserId: 1,
  events: { b: { eventName: "B", value: 1, formerKey: undefined } },
});
new Catalog("c", { file: "catalog.yaml", sets: new pulumi.Config().getBoolean("sets") });
// @ts-expect-error only an event of a set has one
new ConversionEvent("c", { ...eventArgs, formerKey: "a" });
// @ts-expect-error each event has its own
new ConversionEventSet("s", { advertiserId: 1, defaults: { formerKey: "a" }, events: {} });
// @ts-expect-error a file that is known later
new Catalog("c", { file: pulumi.output("catalog.yaml") });
// @ts-expect-error outputs are only read
acme.advertiserId = pulumi.output(1);

// Users' own tests.
export async function test(): Promise<readonly DeclaredResource[]> {
  const mocks: Mocks = await setMocks({
    project: "shop",
    others: { newResource: () => ({ id: "1", state: {} }), call: () => ({}) },
  });
  const id: number = await outputOf(purchase.eventId);
  const problems: readonly Problem[] = validate(
    "ConversionEvent",
    { ...eventArgs, value: id },
    { maxWindowSeconds: 3600 },
  );
  // @ts-expect-error no class of this package
  validate("Event", eventArgs);
  return problems.length === 0 ? mocks.resources() : [];
}
