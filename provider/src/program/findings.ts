/**
 * What is wrong with a program, in words: the one error with which it ends, and what is said of resources that have the same
 * arguments, are no longer declared, or leave the state. `batch.ts` finds it, and `program.ts` reports it.
 */
import * as pulumi from "@pulumi/pulumi";
import {
  ArgumentsError,
  count,
  cut,
  enumerate,
  idRanges,
  OutcomeUnknownError,
  printable,
  SettingsError,
  saidOnce,
  shellWord,
  whyTooOld,
  withoutValues,
  withPage,
} from "../base/index.js";
import { abilitiesOf, removalOf } from "../decision/index.js";
import { type Kind, kindNamed } from "../kinds/index.js";
import { inWords, type Problem } from "../rules/index.js";
import { describeSettingProblems, type Settings, type SettingsReading } from "../settings/index.js";
import {
  aboutWhom,
  type CreateRecord,
  forgetCommands,
  isDeletion,
  MAX_LISTED,
  moreRemoved,
  type Ref,
  type Removal,
  removalWarning,
  renamedFrom,
  resourceKeyIn,
  setRemovalWarning,
  settledElsewhere,
  whatIsOpen,
} from "../state/index.js";
import type { Live } from "../store/index.js";

/** What is wrong with one resource, or with a catalog: a section of the error. */
export interface Finding {
  readonly title: string;
  readonly lines: readonly string[];
  readonly problems: number;
  /** A create of an earlier run that is to be settled; otherwise arguments are wrong. */
  readonly isUnresolved?: true;
}

/** @throws pulumi.RunError the program runs on a Node.js that lacks what this package needs. */
export function expectNodeFits(): void {
  const old = whyTooOld(process.versions.node);
  if (old !== undefined) throw unchanging(new pulumi.RunError(`pulumi-advertising: ${old} Nothing was sent.`));
}

/** The error that lists everything. @param consequence what was not done, such as `nothing was sent`. */
export function programError(
  reading: SettingsReading,
  findings: readonly Finding[],
  consequence: string,
): pulumi.RunError {
  const total = findings.reduce((sum, { problems }) => sum + problems, reading.problems.length);
  const text = [
    `${count(total, "problem")}; ${consequence}.`,
    ...(reading.problems.length > 0 ? [describeSettingProblems(reading.problems)] : []),
    ...saidOfSeveral(findings).map(({ title, lines }) =>
      [`  ${title}:`, ...lines.map((line) => `    ${line}`)].join("\n"),
    ),
  ].join("\n");
  const { code } = findings.some(({ isUnresolved }) => isUnresolved !== true)
    ? ArgumentsError
    : findings.length > 0
      ? OutcomeUnknownError
      : SettingsError;
  return unchanging(new pulumi.RunError(withPage(text, code)));
}

/** Resources with problems of the same rules have one section. A problem that takes several lines is about one resource alone. */
function saidOfSeveral(findings: readonly Finding[]): { readonly title: string; readonly lines: readonly string[] }[] {
  const alike = Map.groupBy(findings, (finding) =>
    finding.lines.length <= finding.problems ? withoutValues(finding.lines.join("\n")) : finding,
  );
  return [...alike.values()].map((those) => {
    const [{ title, lines } = { title: "", lines: [] }] = those;
    const said = (_: string, index: number) => {
      const lineOf = (finding: Finding) => finding.lines[index] ?? "";
      return saidOnce(those, lineOf, ({ title: other }) => other, lineOf);
    };
    return { title, lines: those.length === 1 ? lines : lines.flatMap(said) };
  });
}

/** Pulumi puts a property's name in front of an error's message, and shows an error that comes for each resource once. */
function unchanging(error: pulumi.RunError): pulumi.RunError {
  const { message } = error;
  error.stack = ""; // Pulumi shows the stack in some of its messages, if there is one.
  return Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
}

export function findingOf(title: string, problems: readonly Problem[]): Finding {
  return { title, lines: inWords(problems), problems: problems.length };
}

const MAX_NAMES = 5;

/** Warnings that several objects would be made of what was perhaps meant to be one. @param groups the names of each such several. */
export function sameArguments(kind: Kind["name"], groups: readonly (readonly string[])[]): string[] {
  const told = (names: readonly string[]) =>
    enumerate(
      names.map((name) => `"${name}"`),
      MAX_NAMES,
    );
  const textOf = (names: readonly string[]) =>
    `${kind} ${told(names)} have the same arguments: that makes ${names.length} live objects; if you meant one, remove the others`;
  return saidOnce(groups, textOf, told, (names) => withoutValues(textOf(names)));
}

/** A create that is not settled and that nothing declares any longer. */
export interface LeftOpen {
  readonly create: CreateRecord;
  /** The journal key of a new resource of the same kind and name, which would send it again. */
  readonly heir: string | undefined;
}

/** Members of one set are listed together. */
export function noLongerDeclared(all: readonly LeftOpen[]): Finding[] {
  const byResource = Map.groupBy(all, ({ create }) => resourceKeyIn(create.key));
  const findings = [...byResource].flatMap(([key, those]) => {
    const isSet = those.some(({ create }) => create.key !== key);
    return isSet && those.length > 1 ? [leftOpenBySet(key, those)] : those.map(leftOpen);
  });
  const others = findings.length - MAX_LISTED;
  if (others <= 0) return findings;
  const title = `${count(others, "more resource is", "more resources are")} no longer declared, which this lists`;
  const more: Finding = { title, lines: ["npx pulumi-advertising pending"], problems: others, isUnresolved: true };
  return [...findings.slice(0, MAX_LISTED), more];
}

function leftOpen({ create, heir }: LeftOpen): Finding {
  const { key, id } = create;
  const old = aboutWhom(key);
  const outcome = id === undefined ? "the outcome of its create is unknown" : `an interrupted run created it as ${id}`;
  return {
    title: `${old.label} is no longer declared, and ${outcome}`,
    lines: [
      ...whatIsOpen(old.kind, create, old.urn, heir === undefined ? [] : [asHeir(old, heir)]),
      ...(id === undefined ? settledElsewhere([old.urn]) : []),
    ],
    problems: 1,
    isUnresolved: true,
  };
}

/** What to do if the create goes on under another name. */
function asHeir(old: Ref, heirKey: string): string {
  const { label } = aboutWhom(heirKey);
  const alias = renamedFrom(old, heirKey);
  if (alias?.catalog !== undefined)
    return `If you renamed ${alias.catalog.before}, add ${alias.option} to ${alias.catalog.now}.`;
  return alias === undefined
    ? `If you moved it to ${label}: settle it, and if it is there, set existingId on ${label}.`
    : `If ${label} is its new name or place, add ${alias.option} to it.`;
}

function leftOpenBySet(setKey: string, those: readonly LeftOpen[]): Finding {
  const { label, urn } = aboutWhom(setKey);
  const unknown = those.filter(({ create: { id } }) => id === undefined).length;
  const urns = those.map(({ create: { key } }) => aboutWhom(key).urn);
  const members = those.map(({ create: { key, id, at } }) => {
    const { member = "" } = aboutWhom(key);
    return `  ${printable(member)}: ${id === undefined ? `sent at ${at}, outcome unknown` : `created as ${id}`}`;
  });
  return {
    title: `${those.length} events of ${label} are no longer declared, and an interrupted run left their creates behind`,
    lines: [
      ...cut(members, MAX_LISTED, (others) => `  and ${others} more`),
      "If you renamed or moved the set: undo that, run `pulumi up` once (it takes over what is there), and rename the set then, with an alias.",
      ...(unknown === 0
        ? ["Otherwise, to stop managing them (they stay live):", ...forgetCommands(urns).map((line) => `  ${line}`)]
        : [
            "Otherwise settle those of unknown outcome, one by one, or all at once if none of them is there:",
            "  npx pulumi-advertising pending",
            `  npx pulumi-advertising pending --not-created ${shellWord(urn)}`,
          ]),
      ...(unknown === those.length ? settledElsewhere(urns) : []),
    ],
    problems: 1,
    isUnresolved: true,
  };
}

/** An alias renames what the state holds. What an interrupted run had not saved there would be created again under the new name. */
export function renamedTooEarly(resourceKey: string): Finding {
  const { label } = aboutWhom(resourceKey);
  return {
    title: `${label} has a new name or place, and an interrupted run left creates under the former one`,
    lines: [
      "An alias moves only what is in the state, not these creates, so they could be created again.",
      "Undo the rename, run `pulumi up` once (it takes over what is there), and rename it then, with an alias.",
    ],
    problems: 1,
    isUnresolved: true,
  };
}

/** An object that an earlier run knew, by its journal key. */
export type Remembered = readonly [key: string, live: Live];

/** What becomes of it when it leaves the state. @param mayBeAdopted whether something may adopt one of this kind that nobody knows yet. */
export function removalFor(
  [key, { id, deletes }]: Remembered,
  settings: Settings,
  mayBeAdopted: (kind: Kind["name"]) => boolean,
): Removal {
  const { kind } = aboutWhom(key);
  const can = abilitiesOf(kindNamed(kind), settings);
  return removalOf({ can, deletes: () => deletes === true, mayBeAdopted: mayBeAdopted(kind) }, id);
}

/** Of an object that is no longer declared, and that the program refers to by its id. Whether the state still has it, nobody knows. */
export function stillUsed(key: string, id: string): string {
  const { label } = aboutWhom(key);
  return `${label} (${id}) is no longer declared, and stays live: the program uses ${id} as an advertiser.`;
}

/** A warning for each object that leaves the state with nothing to take its place; a set's members are listed together. */
export function removalWarnings(gone: readonly Remembered[], becomes: (each: Remembered) => Removal): string[] {
  const isMember = ([key]: Remembered) => resourceKeyIn(key) !== key;
  const idsOf = (those: typeof gone) => those.map(([, { id }]) => id);

  const sets = [...Map.groupBy(gone.filter(isMember), ([key]) => resourceKeyIn(key))].map(([setKey, those]) => {
    const { kind, label } = aboutWhom(setKey);
    const all = those.map(becomes);
    const removal = all.find((each) => !isDeletion(each)) ?? all[0] ?? "stays live";
    return setRemovalWarning(kindNamed(kind), label, idsOf(those), removal);
  });
  const singles = gone.filter((each) => !isMember(each));
  const lines = singles.slice(0, MAX_LISTED).map((each) => {
    const [key, { id }] = each;
    const { label, kind } = aboutWhom(key);
    return removalWarning(kindNamed(kind), label, id, becomes(each));
  });
  const more = Map.groupBy(singles.slice(MAX_LISTED), becomes);
  const areDeleted = gone.some((each) => isDeletion(becomes(each)));
  return [
    ...sets,
    ...lines,
    ...[...more].map(([removal, those]) => moreRemoved(idsOf(those), removal)),
    ...(areDeleted ? [KEEP_INSTEAD] : []),
  ];
}

/** The engine deletes by the option that the state has: to take it out together with the resource is too late. */
const KEEP_INSTEAD =
  "To keep an object that would be deleted, declare it again without retainOnDelete: false, run `pulumi up`, and remove it after that.";

/**
 * A warning about what this program moves from one resource to another and what would be deleted with the former one. A run of the whole
 * program takes it from there. After a run of some targets both may have it, and a `destroy` on another machine can't know that.
 * @param moves each with the journal keys of both.
 */
export function moveWarnings(
  moves: readonly { readonly id: string; readonly from: string; readonly to: string }[],
): string[] {
  if (moves.length === 0) return [];
  const labelAt = (key: string) => aboutWhom(resourceKeyIn(key)).label;
  const pairs = Map.groupBy(moves, ({ from, to }) => `from ${labelAt(from)} to ${labelAt(to)}`);
  const told = [...pairs].map(([way, those]) => `${idRanges(those.map(({ id }) => id))} ${way}`);
  const some = enumerate(told, MAX_NAMES);
  return [
    `As far as this machine knows, this program moves ${some}. Run it without --target and --exclude: otherwise the state may keep an ` +
      "object in both places, and removing the old one on another machine may delete it.",
  ];
}
