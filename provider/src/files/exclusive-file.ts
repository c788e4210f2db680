/**
 * Creates a file that only one of several processes can create, whole from its first moment on: written under a name of
 * its own and linked into place, so that a process that is killed meanwhile leaves no half-written one.
 */
import { linkSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { link, open, stat, unlink } from "node:fs/promises";

const OWNER_ONLY = 0o600;

/**
 * @param unique for the name of the temporary file.
 * @returns whether it could: not where there is something at `path`. @throws the system's errors
 */
export async function createExclusively(path: string, content: string, unique: string): Promise<boolean> {
  const temporary = temporaryOf(path, unique);
  try {
    await writeNew(temporary, content);
    try {
      await link(temporary, path);
      return true;
    } catch (error) {
      // Over NFS the answer may be about our own link, asked for once more (open(2) on O_EXCL).
      if (isTaken(error)) return (await stat(temporary)).nlink === 2;
      // A file system without links, or whatever it is: the plain way says.
      await writeNew(path, content);
      return true;
    } finally {
      await unlink(temporary).catch(() => undefined); // what is left is removed by age
    }
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** The same at once, for a process that ends. */
export function createExclusivelyNow(path: string, content: string, unique: string): boolean {
  const temporary = temporaryOf(path, unique);
  try {
    writeFileSync(temporary, content, { flag: "wx", mode: OWNER_ONLY });
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (isTaken(error)) return statSync(temporary).nlink === 2;
      writeFileSync(path, content, { flag: "wx", mode: OWNER_ONLY });
    } finally {
      unlinkSync(temporary);
    }
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** A name that `removeLeftovers` knows for what a killed process left. */
function temporaryOf(path: string, unique: string): string {
  return `${path}.${unique}.tmp`;
}

async function writeNew(path: string, content: string): Promise<void> {
  const handle = await open(path, "wx", OWNER_ONLY);
  try {
    await handle.writeFile(content);
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => undefined); // the first error is the one to tell
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

function isTaken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  // Windows answers EPERM while a file of that name is being removed.
  return code === "EEXIST" || (code === "EPERM" && process.platform === "win32");
}
