/** Row 53: which folders a private file may be in. */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPrivate, replacePrivate, UntrustedFile } from "../../provider/src/files/index.js";
import { TestClient } from "../support/client.js";
import { newFolder } from "../support/folder.js";
import { useSandbox } from "../support/stack.js";

it.skipIf(process.platform === "win32")(
  "a folder where everybody may write is not used, with one message, and the run goes on",
  async () => {
    const folder = newFolder();
    const file = join(folder, "session.json");
    replacePrivate(file, "text");
    chmodSync(folder, 0o777);
    for (const use of [() => readPrivate(file), () => replacePrivate(file, "other")])
      expect(use).toThrow(UntrustedFile);
    const sandbox = await useSandbox();
    const client = new TestClient(sandbox.url, { cookieFile: join(folder, "other.json") });
    for (const name of ["A", "B"]) expect(await client.create(name)).toMatchObject({ kind: "created" });
    expect({ logins: sandbox.logins, creates: sandbox.creates }).toEqual({ logins: 1, creates: 2 });
    expect(client.said).toEqual([
      `The cookie file ${join(folder, "other.json")} is not used: other users can write to its folder (to fix that: ` +
        `chmod go-w '${folder}'). This run keeps its session in memory.`,
    ]);
    expect(existsSync(join(folder, "other.json"))).toBe(false);
    expect(statSync(folder).mode & 0o777).toBe(0o777); // the user's own folder is left as it is
    chmodSync(folder, 0o1777); // as /tmp
    expect(readPrivate(file)).toBe("text");
  },
);
