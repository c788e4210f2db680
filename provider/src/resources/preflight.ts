/**
 * The checks in the program's process. The engine stops at the first resource whose `check` fails, when others are
 * perhaps created already; so everything that is known in the program is checked here first, for the whole program.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Kind } from "../kinds/kind.js";
import { writeDeclared } from "../state/declared.js";
import { identityText, journalKeyOf, labelOf } from "../state/identity.js";
import { type Problem, validate } from "../validation/validate.js";
import { identityOf, placeOfProgram } from "./identity.js";
import { formerPlaces, typesOf } from "./place.js";
import { isNotPlain } from "./plain.js";
import { currentProgram, type Program } from "./program.js";
import { sectionOf } from "./program-error.js";
import { judgeRemovalsAtEnd } from "./removals.js";
import { currentTurn } from "./turn.js";
import type { DeclaredHere } from "./undeclared.js";

/** A resource as the program declares it. */
export interface Examined {
  readonly kind: Kind;
  readonly name: string;
  /** None where it is only read. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  /** The same before resources were replaced by their ids. */
  readonly asGiven: Readonly<Record<string, unknown>>;
  readonly options: pulumi.CustomResourceOptions;
}

/**
 * Looks at one resource.
 * @returns what the provider is told of it, once the whole program was looked at: its registration waits for that. Where
 *   anything in the program is wrong, it is rejected with the one `pulumi.RunError` that lists everything, and with which
 *   the program ends.
 */
export function examine(examined: Examined): Promise<unknown> {
  const program = currentProgram((begun) => {
    for (const warning of begun.reading.warnings) void pulumi.log.warn(warning);
    judgeRemovalsAtEnd(begun);
  });
  const turn = currentTurn(program);
  const declared = declaredOf(examined);
  turn.declared.push(declared);
  program.declared.push(declared);
  const problems = problemsOf(examined, program);
  if (problems.length > 0) turn.sections.push(sectionOf(labelOf(examined.kind.name, examined.name), problems));
  const told = turn.admitted.then(async ({ first, resources, formerly }) => {
    const maybe = formerly.get(declared.key);
    return writeDeclared({
      identity: await identityOf(examined.name, examined.options.parent),
      ...(first === declared ? { run: { isUp: !pulumi.runtime.isDryRun(), resources } } : {}),
      ...(maybe === undefined ? {} : { formerly: maybe }),
    });
  });
  // Pulumi listens only later: Node would warn of a rejection that nobody handles.
  told.catch(() => undefined);
  return told;
}

function declaredOf({ kind, name, args, options }: Examined): DeclaredHere {
  const parentTypes = typesOf(options.parent);
  return {
    kind,
    name,
    parentTypes,
    key: journalKeyOf(kind.name, identityText({ ...placeOfProgram(), parentTypes, name })),
    platformName: args?.[kind.nameProperty],
    adopts: args?.existingId !== undefined,
    isRead: args === undefined,
    formerly: formerPlaces(name, options),
  };
}

/** Holds the arguments and options against the rules; warns of what is allowed and likely a mistake. */
function problemsOf({ kind, name, args, asGiven, options }: Examined, { reading, comparison }: Program): Problem[] {
  if (args === undefined) return [];
  const { values, problems } = validate(args, kind.rules(reading.settings), { isUnknown: isNotPlain });
  for (const { property, reason } of kind.warnings(values)) {
    void pulumi.log.warn(`${labelOf(kind.name, name)}: ${property} ${reason}`);
  }
  return [
    ...problems,
    ...optionProblems(options),
    ...comparison.add({ kind, name, args: asGiven, values, fits: problems.length === 0 }),
  ];
}

function optionProblems(options: pulumi.CustomResourceOptions): Problem[] {
  return [
    // Pulumi's dynamic providers can't import: they are not told which provider the id belongs to.
    ...(options.import === undefined
      ? []
      : [{ property: "import", reason: "is an option that does not work here: name the live object with existingId" }]),
    ...(options.retainOnDelete === false
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
