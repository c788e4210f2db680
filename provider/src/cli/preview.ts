/**
 * Reads the output of `pulumi preview --json`. A set's events are listed one by one, by the decisions of `plan/`, as in an
 * `up`. (Measured with engine 3.259.0: a replacement is one step; an unknown value is a fixed text; unchanged resources are
 * left out without `--show-sames`.)
 */
import { stripVTControlCharacters } from "node:util";
import { asRecord, idsIn, jsonIn, listIn, mapValues, type Values } from "../base/index.js";
import {
  type AnyKind,
  advertiser,
  asksToDelete,
  conversionEvent,
  type Kind,
  resourceOfType,
} from "../kinds/index.js";
import {
  type Abilities,
  decideObjects,
  isRemoved,
  type PlannedObject,
  sentAsIfUpdated,
  shownAction,
} from "../plan/index.js";
import {
  type ExportedObject,
  inNaturalOrder,
  keepingOption,
  maskSecrets,
  providerIn,
  type Resource,
  refIn,
} from "../record/index.js";
import {
  knownOperations,
  NAMESPACE,
  readSettings,
  type Settings,
} from "../settings/index.js";
import {
  catalogIn,
  DEFAULT_PROVIDER,
  keyOfUrn,
  kindOf,
  MAY_HAVE,
  NOT_DELETED,
  nameInUrn,
  objectKey,
  readDeclared,
  readStored,
  senderIn,
  typesIn,
  UNKNOWN,
} from "../state/index.js";

/** The text that engine 3.259 prints for a secret value. */
const SECRET_TEXT = "[secret]";

/** A step of the engine, for a resource of this package. */
interface Step {
  op: string;
  urn: string;
  resource: AnyKind;
  oldState?: Resource;
  newState?: Resource | undefined;
}

export interface Diagnostic {
  severity: string;
  message: string;
  urn?: string;
}

export interface ObjectChange extends PlannedObject {
  kind: Kind;
  ref: ExportedObject["ref"];
}

/**
 * Pulumi prints steps and diagnostics in any order, so they are sorted.
 * @returns `hidden`: the names of sets whose changes can't be shown, since their events are secret or not known yet.
 */
export function readPreview(text: string) {
  const preview = asRecord(jsonIn(text) ?? previewOfEvents(text));
  if (!Array.isArray(preview.steps ?? preview.diagnostics))
    throw new Error("expected what `pulumi preview --json` prints, to its end");
  // A preview holds the settings that the stack sets, and itself reports what is wrong with them.
  const config = asRecord(preview.config) as Readonly<Record<string, string>>;
  const { settings } = readSettings({
    config: (key) => config[`${NAMESPACE}:${key}`],
    environment: process.env,
  });
  // Resources that are only read (`.get`) have other operations, and are left out.
  const steps = inNaturalOrder(listIn<Step>(preview.steps), ({ urn }) => urn)
    .filter(({ op }) => ["create", "replace", "update", "delete", "same"].includes(op))
    .flatMap((step) => {
      const { type = "" } = step.newState ?? step.oldState ?? {};
      const resource = resourceOfType(type);
      if (!resource) return [];
      // A secret is like a value that is not known yet: nobody can tell from a preview whether it has changed.
      const text = JSON.stringify(step);
      const hidden = jsonIn(text.replaceAll(`"${SECRET_TEXT}"`, `"${UNKNOWN}"`));
      return { ...(hidden as Step), resource };
    });
  const hidden = steps.filter((each) => each.op !== "same" && isHidden(each));
  const declared = Map.groupBy(
    steps.filter(({ newState }) => newState),
    catalogOf,
  );
  const diagnostics = listIn<Diagnostic>(preview.diagnostics).map((each) => {
    const plain = stripVTControlCharacters(each.message);
    return { ...each, message: plain.replace(MARKUP, "").trim() };
  });
  const leaving = new Map(diagnostics.flatMap(leavingIn));
  const interrupted = toldUpdated(diagnostics);
  const planned = steps.flatMap((step) => {
    const inCatalog = declared.get(catalogOf(step));
    const told = { leaving: leaving.get(step.urn), interrupted };
    return plannedIn(step, settings, told, inCatalog);
  });
  // An object that another resource adopts or keeps is shown with that resource, and not as leaving.
  const staying = new Set(
    planned.flatMap(({ kind, id, isDeclared, leaving, action }) => {
      const isHolder = action.do === "adopt" || (isDeclared && !leaving);
      // An unresolved create has no id yet, and neither has a new object.
      const { id: object } = { id, ...action };
      return isHolder && object !== undefined ? objectKey(kind.name, object) : [];
    }),
  );
  const isStaying = (kind: Kind, id = "") => staying.has(objectKey(kind.name, id));
  const kept = toldLive(diagnostics);
  return {
    changes: planned.flatMap((each) => {
      const { kind, id, isDeclared, leaving } = each;
      if (shownAction(each) === "same" || (!isDeclared && isStaying(kind, id))) return [];
      if (isStaying(kind, leaving?.id)) return { ...each, leaving: undefined };
      if (!leaving?.isDeleted || !kept.has(objectKey(kind.name, leaving.id))) return each;
      const retained = isRemoved(each) ? { action: { do: "retain" as const } } : {};
      return { ...each, ...retained, leaving: { ...leaving, isDeleted: false } };
    }),
    hidden: hidden.map(({ urn }) => nameInUrn(urn)),
    // Nothing else of Pulumi's JSON shows that a language host has found no program, or an error in it.
    mayHaveFailed:
      !preview.steps || diagnostics.some(({ severity }) => severity === "info#err"),
    deletesNow: steps.filter(({ oldState, newState }) => {
      const isAsked = asksToDelete(newState?.inputs) && !keepingOption(newState);
      return oldState && isAsked && !asksToDelete(oldState.inputs);
    }).length,
    // Without what Pulumi's own log and the program print. A message may be several diagnostics of one resource.
    diagnostics: inNaturalOrder(
      diagnostics.filter(({ severity }) => !["debug", "info"].includes(severity)),
      ({ urn = "" }) => urn,
    ),
  };
}

/** Whether a step of a set doesn't show its events, or their ids. */
function isHidden({ oldState, newState }: Step) {
  return oldState?.outputs?.eventIds === UNKNOWN || newState?.inputs?.events === UNKNOWN;
}

/** Pulumi adds this to messages. */
const MARKUP = /<\{%\w+%\}>|^(error|warning): /g;
/** Sentences and lists about objects that stay live. */
const OWN_LIVE = /\b[Ii]ts (\w+) (\d+)\b/;
const OLD_LIVE =
  /\b(?:Each|The) old object \(?([\d–, ]+)\)?(?:, unless [^.]*,)? stays live/;
const NOT_DELETED_NOW = new RegExp(`^(.*\\)) ${NOT_DELETED}`);
const UPDATED = new RegExp(`^(.*?)(?::|, \\w+) ${MAY_HAVE} updated(?: (\\d+);|: (.*))`);
const LISTED_LIVE = /^\d+ more, (?:not deleted|[^:]*live): (.*)/;

/** The objects of which a preview's messages say that they stay live: a provider knows more than Pulumi's steps show. */
function toldLive(diagnostics: readonly Diagnostic[]) {
  return new Set(
    diagnostics.flatMap(({ message, urn = "" }) => {
      const [, noun, own = ""] = OWN_LIVE.exec(message) ?? [];
      const [, old = ""] = OLD_LIVE.exec(message) ?? [];
      const of = resourceOfType(typesIn(urn).split("$").at(-1) ?? "");
      const [, list] = NOT_DELETED_NOW.exec(message) ?? LISTED_LIVE.exec(message) ?? [];
      const named = list?.split(/(?<=\)), /) ?? [];
      return [
        ...objectKeysIn(noun === advertiser.noun, own),
        ...(of ? objectKeysIn(of === advertiser, old) : []),
        ...named.flatMap(keysOfLabel),
      ];
    }),
  );
}

/** The objects that an interrupted run may have updated, of which all arguments are sent. By `objectKey`. */
function toldUpdated(diagnostics: readonly Diagnostic[]) {
  const told = diagnostics.flatMap(({ message }) => {
    const [, label, id, list = `${label} (${id})`] = UPDATED.exec(message) ?? [];
    return list.split(/(?<=\)), /);
  });
  const keys = told.flatMap(keysOfLabel);
  return new Map(keys.map((object) => [object, { sent: "update" }]));
}

/** Of each object that leaves a set, whether that depends on an unknown value. */
type Leaving = ReadonlyMap<string, boolean>;

/** What messages of the preview say, beside Pulumi's steps. */
interface Told {
  leaving: Leaving | undefined;
  interrupted: ReadonlyMap<string, { sent: string }>;
}

/** The objects that leave a set, with the set's URN; empty if the message isn't a set's plan that names each object. */
function leavingIn({ message, urn = "" }: Diagnostic): [string, Leaving][] {
  const [counts = ""] = /^events: .*/.exec(message) ?? [];
  const amounts = counts.matchAll(/(\d+) to (?:re(?:place|move)|delete)/g);
  const amount = [...amounts].reduce((sum, [, each]) => sum + Number(each), 0);
  const lists = message.matchAll(/ach old object \((.*?)\)/g);
  const ids = Array.from(lists, ([, list = ""]) => idsIn(list)).flat();
  if (counts === "" || ids.length !== amount) return [];
  return [[urn, new Map(ids.map((id) => [id, counts.includes(" if ")]))]];
}

/** @param label with the id in parentheses. */
function keysOfLabel(label: string) {
  const [id = ""] = /\d+\)$/.exec(label) ?? [];
  return objectKeysIn(label.startsWith(advertiser.name), id);
}

function objectKeysIn(isAdvertiser: boolean, ranges: string) {
  const { name } = isAdvertiser ? advertiser : conversionEvent;
  return idsIn(ranges).map((id) => objectKey(name, id));
}

/**
 * With `PULUMI_ENABLE_STREAMING_JSON_PREVIEW`, Pulumi prints one engine event a line, with secrets as in an exported
 * stack. The summary is among the last.
 * @returns the preview as it is otherwise; undefined if it isn't whole.
 */
function previewOfEvents(text: string) {
  const events = text
    .trim()
    .split("\n")
    .map((line) => asRecord(jsonIn(line)));
  if (!events.some(({ summaryEvent }) => summaryEvent)) return undefined;
  return {
    config: events.map(({ preludeEvent }) => asRecord(preludeEvent).config).find(Boolean),
    steps: events.flatMap(({ resourcePreEvent }) => {
      const { metadata } = asRecord(resourcePreEvent);
      const { op, urn, old, new: news } = maskSecrets(asRecord(metadata), SECRET_TEXT);
      return metadata
        ? { op, urn, oldState: old ?? undefined, newState: news ?? undefined }
        : [];
    }),
    diagnostics: events.flatMap(({ diagnosticEvent }) => diagnosticEvent ?? []),
  };
}

/** Names the catalog that declares a step's resource, or else the resource. */
function catalogOf({ urn, resource }: Step) {
  return catalogIn(keyOfUrn(resource.name, urn)) ?? urn;
}

/**
 * The changes to a resource's objects; empty if they can't be shown.
 * @param inCatalog what the program still declares of the resource's catalog; by default what it declared before.
 */
function plannedIn(
  step: Step,
  settings: Settings,
  { leaving, interrupted }: Told,
  inCatalog: readonly Step[] = [{ ...step, newState: step.oldState }],
) {
  const { op, urn, resource, oldState, newState } = step;
  const isSet = "member" in resource;
  // Only the engine's own options replace a set, which keeps its events.
  const isReplacedSet = isSet && op === "replace";
  const declared = readDeclared(resource, newState?.inputs);
  if (isHidden(step)) return [];
  const kind = kindOf(resource);
  const can: Abilities = knownOperations(kind, settings);
  let olds: Values = { ...oldState?.inputs, ...oldState?.outputs };
  if (isSet) olds = withHiddenParts(kind, olds);
  // The settings of an explicit provider may not be among the steps. Then the messages say what stays live. With the
  // plugin, a set's inputs have whether the run updates its events.
  const provider = oldState && providerIn(oldState);
  if (isSet && provider !== undefined)
    can.update = senderIn({ ...olds, ...newState?.inputs }).canUpdate;
  const hasDelete = can.delete || (provider ?? DEFAULT_PROVIDER) !== DEFAULT_PROVIDER;
  let stored = readStored(resource, oldState?.id, olds);
  const sentAs = sentAsIfUpdated({ kind, secret: new Set(), stored }, interrupted);
  if (sentAs) stored = { ...stored, sentAs };
  // The step takes precedence: the engine knows secrets, settings in the program's environment and `--replace`.
  const objects = decideObjects(kind, stored, declared, {
    can,
    fateOf: (id) => {
      const asking = op === "delete" ? inCatalog : [step];
      const isAsked = asking.some((each) => asksToDelete(each.newState?.inputs));
      const isKept = isReplacedSet || [oldState, newState].some(keepingOption);
      const isDue = isAsked && asksToDelete(olds) && !isKept;
      return { id, isDeleted: isDue && Boolean(hasDelete) };
    },
    override: (action) => {
      const isKept = ["same", "replace", "update", "update state only"].includes(action.do);
      if (op === "same" || (isKept && isReplacedSet)) return { do: "same" };
      // The engine removes an unresolved create from the state without asking the provider.
      if (op === "delete" && action.do === "blocked") return { do: "retain" };
      if (isKept && op === "replace") return { do: "replace", perhaps: false };
      // An update of a set says nothing about its members.
      if (isSet || op !== "update" || action.do !== "replace") return action;
      return { do: "update" };
    },
  });
  return objects.map((object) => {
    const known = isSet ? replacedOrNot(object, kind, can, leaving) : object;
    return { ...known, kind, ref: refIn(resource, urn, object.key) };
  });
}

/** A set's state in which each argument of a hidden part is hidden. */
function withHiddenParts({ wireNames }: Kind, olds: Values) {
  const all = mapValues({ ...wireNames, additionalFields: "" }, () => UNKNOWN);
  const isHidden = olds.events === UNKNOWN;
  const events = asRecord(isHidden ? olds.eventIds : olds.events);
  return {
    ...olds,
    defaults: olds.defaults === UNKNOWN ? all : olds.defaults,
    events: mapValues(events, (entry) => (typeof entry === "object" ? entry : all)),
  };
}

/** A set's event that is replaced only if a hidden value has changed: its provider knows that, so the set's plan decides. */
function replacedOrNot(
  object: PlannedObject,
  { owner = "" }: Kind,
  can: Abilities,
  leaving?: Leaving,
): PlannedObject {
  const { id = "", action, changed } = object;
  if (action.do !== "replace" || !action.perhaps) return object;
  const perhaps = leaving ? leaving.get(id) : true;
  if (perhaps !== undefined) return { ...object, action: { do: "replace", perhaps } };
  const others = changed.filter((name) => name !== owner);
  const now = can.update && others.length > 0 ? "update" : "same";
  return { ...object, action: { do: now }, changed: others, leaving: undefined };
}
