/**
 * Which resource of which stack this is: what the provider process is otherwise never told.
 */
import * as pulumi from "@pulumi/pulumi";

/**
 * `<organization>/<project>/<stack>::<types and names of parents>::<name>`: as unique as the URN, without what every
 * URN repeats. Built like it, so that equal names below different components stay apart.
 */
export async function identityOf(name: string, parent: pulumi.Resource | undefined): Promise<string> {
  const stack = `${pulumi.getOrganization()}/${pulumi.getProject()}/${pulumi.getStack()}`;
  const parentUrn = parent === undefined ? undefined : await settled(parent.urn);
  // urn:pulumi:<stack>::<project>::<types>::<name>; the root stack is every resource's parent and says nothing.
  const types = parentUrn?.split("::")[2];
  const path = types === undefined || types === "pulumi:pulumi:Stack" ? [] : [types];
  return [stack, ...path, name].join("::");
}

/** An Output's value without its dependencies: a resource must not wait for its parent's other children. */
function settled<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((resolve) => {
    output.apply(resolve);
  });
}
