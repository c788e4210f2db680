import { PolicyPack, type ReportViolation, validateResourceOfType } from "@pulumi/policy";
import { Advertiser, ConversionEvent, ConversionEventSet, days } from "pulumi-advertising";

const NAME = /^[A-Z][^|]* \| (shop|app)$/;
const MAX_WINDOW_DAYS = 14;
const PRODUCTION = /^prod/;

/** What a rule reads of an event, which may be a resource of its own or a member of a set. */
interface Event {
  readonly eventName?: string;
  readonly clickWindow?: number;
  readonly viewWindow?: number;
}

/** A rule for each event, whichever way it is declared. */
function forEachEvent(judge: (event: Event, report: ReportViolation) => void) {
  return [
    validateResourceOfType(ConversionEvent, (event, _args, report) =>
      judge(event as Event, report),
    ),
    validateResourceOfType(ConversionEventSet, (set, _args, report) => {
      const { defaults, events } = set as {
        defaults?: Event;
        events?: Record<string, Event>;
      };
      for (const [key, event] of Object.entries(events ?? {})) {
        judge({ ...defaults, ...event }, (message) =>
          report(`events["${key}"]: ${message}`),
        );
      }
    }),
  ];
}

/** The stack in a resource's URN: `urn:pulumi:<stack>::…`. */
const stackOf = (urn: string) => urn.split(":")[2] ?? "";

new PolicyPack("advertising", {
  enforcementLevel: "mandatory",
  policies: [
    {
      name: "event-names",
      description: "An event's name ends with where it happens, such as “Purchase | shop”.",
      validateResource: forEachEvent(({ eventName }, report) => {
        if (eventName !== undefined && !NAME.test(eventName))
          report(`eventName "${eventName}" does not fit ${NAME}`);
      }),
    },
    {
      name: "windows",
      description: `Windows are ${MAX_WINDOW_DAYS} days at most.`,
      validateResource: forEachEvent((event, report) => {
        for (const name of ["clickWindow", "viewWindow"] as const) {
          const seconds = event[name] ?? 0;
          if (seconds > days(MAX_WINDOW_DAYS))
            report(
              `${name} is ${seconds / days(1)} days; at most ${MAX_WINDOW_DAYS} are allowed`,
            );
        }
      }),
    },
    {
      name: "production-protected",
      description:
        "What tags may fire already is protected, since a replacement gets another id.",
      validateResource: ({ type, urn, opts }, report) => {
        const isOurs = [Advertiser, ConversionEvent, ConversionEventSet].some(
          (each) => each.__pulumiType === type,
        );
        if (isOurs && PRODUCTION.test(stackOf(urn)) && !opts.protect)
          report("add the option { protect: true }");
      },
    },
  ],
});
