/**
 * Which resource of which stack this is: what the provider process is otherwise never told.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Kind, SetKind } from "../kinds/index.js";
import { identityText, journalKeyOf } from "../state/index.js";
import { typesOf } from "./place.js";

/**
 * As unique as the URN, without what every URN repeats. Built like it, so that equal names below different components
 * stay apart.
 */
export async function identityOf(name: string, parent: pulumi.Resource | undefined): Promise<string> {
  const parentUrn = parent === undefined ? undefined : await settled(parent.urn);
  // urn:pulumi:<stack>::<project>::<types>::<name>; the root stack is every resource's parent and says nothing.
  const types = parentUrn?.split("::")[2];
  return identityText({
    ...placeOfProgram(),
    parentTypes: types === "pulumi:pulumi:Stack" ? undefined : types,
    name,
  });
}

/** Under which the journal knows it, by what the program says alone. */
export function journalKeyIn(kind: Kind | SetKind, name: string, parent: pulumi.Resource | undefined): string {
  return journalKeyOf(kind.name, identityText({ ...placeOfProgram(), parentTypes: typesOf(parent), name }));
}

/** The stack that the program is of. */
export function placeOfProgram() {
  return { organization: organization(), project: pulumi.getProject(), stack: pulumi.getStack() };
}

/** Pulumi throws where there is none, which mocks of users' tests leave out. */
function organization(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return "organization";
  }
}

/** An Output's value without its dependencies: a resource must not wait for its parent's other children. */
function settled<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((resolve) => {
    output.apply(resolve);
  });
}
