/** The names of the kinds, and the named values and units of conversion events, for programs and rules. No I/O. */

/** The kinds of objects: the names of their classes, and the last parts of their type tokens. */
export type KindName = "Advertiser" | "ConversionEvent";
/** The sets of objects of one kind. */
export type SetName = "ConversionEventSet";
export type ResourceName = KindName | SetName;

/** The two event types that the platform's documentation names; any other integer from 0 up is accepted as well. */
export const EventType = {
  /** 0 */
  Purchase: 0,
  /** 1 */
  LandingPage: 1,
} as const;
/** `EventType.Purchase` (0) or `EventType.LandingPage` (1). An event's `eventTypeId` may be any integer from 0 up. */
export type EventType = (typeof EventType)[keyof typeof EventType];

/** The line items that a conversion may be credited to. `ALL`: all of the advertiser; `WHITELIST`: selected ones. */
export const Attribution = {
  /** `"ALL"`: every line item of the advertiser is eligible. */
  All: "ALL",
  /** `"WHITELIST"`: only selected campaigns or line items are. */
  Whitelist: "WHITELIST",
} as const;
/** `"ALL"` or `"WHITELIST"`. */
export type Attribution = (typeof Attribution)[keyof typeof Attribution];

/** Converts hours to the seconds that `clickWindow` and `viewWindow` take, rounded to whole seconds. */
export function hours(count: number) {
  return Math.round(count * 3600);
}

/** Converts days to the seconds that `clickWindow` and `viewWindow` take, rounded to whole seconds. */
export function days(count: number) {
  return Math.round(count * 86_400);
}

/** The arguments that are times in seconds. */
export const WINDOWS: readonly string[] = ["clickWindow", "viewWindow"];

/** 30 days in seconds: the default of both windows, and usually the limit (the platform's API documentation). */
export const THIRTY_DAYS_IN_SECONDS = days(30);
