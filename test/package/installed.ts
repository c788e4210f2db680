/** Everything that must hold for the package as each package manager installs it: one project for all of it. */
import { beforeAll, describe } from "vitest";
import { InstalledProject, type Manager, packProvider, useTemporaryFolder } from "../support/packed.js";
import { describeCommands } from "./commands.js";
import { describeLoading } from "./loading.js";
import { describePrograms, type Installed } from "./programs.js";

/** @param other installs the next version of it. */
export function describeInstalledBy(manager: Manager, other?: Manager): void {
  describe(`installed by ${manager}`, () => {
    const temporary = useTemporaryFolder();
    let installed: Installed;

    beforeAll(async () => {
      const tarball = await packProvider(temporary());
      installed = { tarball, project: await InstalledProject.create(manager, tarball, temporary()) };
    });

    // The programs come last: they leave settings of Pulumi's and of the compiler's in the project.
    describeLoading(manager, () => installed.project);
    describeCommands(manager, () => installed.project);
    describePrograms(manager, () => installed, temporary, other);
  });
}
