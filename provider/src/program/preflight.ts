/**
 * The checks in the program's process. The engine stops at the first resource whose `check` fails, when others are
 * perhaps created already; so everything that is known in the program is checked here first, for the whole program.
 */
import * as pulumi from "@pulumi/pulumi";
import { own, type Values } from "../base/index.js";
import { CATALOG_TYPE, type Kind, type Limits, type SetKind } from "../kinds/index.js";
import { isContainer, type Problem, validate } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { labelOf, memberOf, resourceKeyIn, writeDeclared } from "../state/index.js";
import { isOfType } from "./classes.js";
import { comparedIn } from "./compared.js";
import type { DeclaredHere } from "./declarations.js";
import type { History } from "./history.js";
import { readIdProblem } from "./ids.js";
import { ownersIn } from "./owners.js";
import { formerPlaces, typesOf } from "./place.js";
import { isNotPlain } from "./plain.js";
import { currentProgram, type Program } from "./program.js";
import { expectNodeFits, sectionOf } from "./program-error.js";
import { hideStackTracesOfFailures } from "./quiet-failures.js";
import { judgeRemovalsAtEnd } from "./removals.js";
import { identityOf, journalKeyIn } from "./resource-identity.js";
import { type Admission, currentTurn } from "./turn.js";

/** A resource as the program declares it. */
export interface Examined {
  readonly kind: Kind | SetKind;
  readonly name: string;
  /** None where it is only read. */
  readonly args: Values | undefined;
  /** The same before resources were replaced by their ids. */
  readonly asGiven: Values;
  readonly options: pulumi.CustomResourceOptions;
}

/**
 * Looks at one resource.
 * @returns what the provider is told of it, once the whole program was looked at: its registration waits for that. Where
 *   anything in the program is wrong, it is rejected with the one `pulumi.RunError` that lists everything, and with which
 *   the program ends.
 */
export function examine(examined: Examined): Promise<unknown> {
  expectNodeFits();
  const program = programOfNow();
  const turn = currentTurn(program);
  const declared = declaredOf(examined);
  const members = "member" in examined.kind ? membersOf(examined.kind, declared, examined.args) : [];
  turn.declared.push(declared);
  for (const each of [declared, ...members]) program.declarations.add(each);
  const { kind } = examined;
  const problems = problemsOf(examined, program);
  if (problems.length > 0) turn.report(sectionOf(labelOf(examined.kind.name, examined.name), problems));
  const { replaceOnChanges, retainOnDelete } = examined.options;
  const deletes = retainOnDelete === false && canDelete(examined.kind, program);
  const owners = pulumi.runtime.isDryRun() ? ownersIn(kind, examined.asGiven) : undefined;
  const told = turn.admitted.then(async ({ first, resources, formerly, settled }) => {
    const maybe = formerly.get(declared.key);
    return writeDeclared({
      identity: await identityOf(examined.name, examined.options.parent),
      ...(first === declared ? { run: { isUp: !pulumi.runtime.isDryRun(), resources } } : {}),
      ...(maybe === undefined ? {} : { formerly: maybe }),
      ...formerMembers(members, formerly),
      ...("member" in examined.kind ? adoptedIn(program, examined.kind.member, declared.key) : {}),
      ...settledIn(declared, settled),
      ...(deletes ? { deletes } : {}),
      ...(replaceOnChanges === undefined ? {} : { replaceOnChanges }),
      ...(owners === undefined ? {} : { owners }),
    });
  });
  // Pulumi listens only later: Node would warn of a rejection that nobody handles.
  told.catch(() => undefined);
  return told;
}

/** For what makes resources of a file, and is told by its rules what is wrong there. */
export interface ExaminedSource {
  /** What the rules depend on. */
  readonly limits: Limits;
  /** By journal key: what runs on this machine have created. */
  readonly live: History["live"];
  /** Tells what is wrong with it, with the rest of the program. */
  report(title: string, lines: readonly string[]): void;
  /** Settles once the whole program was found good; as {@link examine} otherwise. */
  readonly admitted: Promise<unknown>;
}

/** @param options of the component that it is. */
export function examineSource(options: pulumi.ComponentResourceOptions): ExaminedSource {
  const program = programOfNow();
  const turn = currentTurn(program);
  return {
    limits: program.reading.settings,
    live: program.history.live,
    report(title, lines) {
      const all = [...lines, ...optionProblems(options, false).map(({ property, reason }) => `${property} ${reason}`)];
      if (all.length > 0) turn.report({ title, lines: all, problems: all.length });
    },
    admitted: turn.admitted,
  };
}

function programOfNow(): Program {
  return currentProgram((begun) => {
    for (const warning of begun.reading.warnings) void pulumi.log.warn(warning);
    judgeRemovalsAtEnd(begun);
    hideStackTracesOfFailures();
  });
}

function declaredOf({ kind, name, args, options }: Examined): DeclaredHere {
  return {
    kind: "member" in kind ? kind.member : kind,
    name,
    parentTypes: typesOf(options.parent),
    key: journalKeyIn(kind, name, options.parent),
    platformName: "member" in kind ? undefined : args?.[kind.nameProperty],
    existingId: args?.existingId,
    isRead: args === undefined,
    hasKnownMembers: "member" in kind && isContainer(args?.events),
    formerly: formerPlaces(name, options),
  };
}

/** What a set declares, as far as the program knows it. */
function membersOf({ member }: SetKind, set: DeclaredHere, args: Examined["args"]): DeclaredHere[] {
  if (!isContainer(args?.events)) return [];
  return Object.entries(args.events).map(([key, entry]) => ({
    ...set,
    hasKnownMembers: false,
    key: memberOf(set.key, key),
    platformName: own(entry, member.nameProperty),
    existingId: own(entry, "existingId"),
  }));
}

/** The members of a set that are settled by an adoption elsewhere. */
function settledIn({ key }: DeclaredHere, settled: Admission["settled"]) {
  const keys = [...settled].filter((each) => each !== key && resourceKeyIn(each) === key);
  return keys.length === 0 ? {} : { settled: keys };
}

/** By whatever resource: a set that lets go of one of them leaves nothing unmanaged. */
function adoptedIn({ declarations }: Program, { name }: Kind, key: string) {
  const adopted = declarations.adoptedOf(name);
  return {
    ...(adopted === "" ? {} : { adopted }),
    ...(declarations.adoptsUnknown(name, key) ? { adoptsUnknown: true } : {}),
  };
}

/** Whether the installation is known to have a way to. */
function canDelete(kind: Kind | SetKind, { reading }: Program): boolean {
  return knownOperations("member" in kind ? kind.member : kind, reading.settings).delete !== undefined;
}

function formerMembers(members: readonly DeclaredHere[], formerly: Admission["formerly"]) {
  const known = members.flatMap(({ key }) => {
    const maybe = formerly.get(key);
    return maybe === undefined ? [] : [[key, maybe] as const];
  });
  return known.length === 0 ? {} : { membersFormerly: Object.fromEntries(known) };
}

/** Holds the arguments and options against the rules; warns of what is allowed and likely a mistake. */
function problemsOf({ kind, name, args, asGiven, options }: Examined, program: Program): Problem[] {
  const { reading, comparison } = program;
  if (args === undefined) return readIdProblem(options);
  const { values, problems } = validate(args, kind.rules(reading.settings), { isUnknown: isNotPlain });
  // A catalog says it with the place in its file.
  const warnings = isOfType(options.parent, CATALOG_TYPE) ? [] : kind.warnings(values);
  for (const { property, reason } of warnings) {
    void pulumi.log.warn(`${labelOf(kind.name, name)}: ${property} ${reason}`);
  }
  return [
    ...problems,
    ...optionProblems(options, canDelete(kind, program)),
    ...comparedIn({ kind, name, args: asGiven, values, fits: problems.length === 0 }, reading.settings).flatMap(
      ({ path, ...compared }) =>
        comparison.add(compared).map(({ property, reason }) => ({ property: `${path}${property}`, reason })),
    ),
  ];
}

/** @param mayDelete whether `retainOnDelete` may be off. */
function optionProblems(options: pulumi.CustomResourceOptions, mayDelete: boolean): Problem[] {
  return [
    // Pulumi's dynamic providers can't import: they are not told which provider the id belongs to.
    ...(options.import === undefined
      ? []
      : [{ property: "import", reason: "is an option that does not work here: name the live object with existingId" }]),
    ...(options.retainOnDelete === false && !mayDelete
      ? [
          {
            property: "retainOnDelete",
            reason:
              "can't be false: the platform has no known way to delete, so a removal or a replacement would fail half-way. " +
              "Leave the option out: whatever is removed stays live on the platform",
          },
        ]
      : []),
  ];
}
