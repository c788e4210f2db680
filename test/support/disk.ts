/**
 * A disk in memory with a page cache: every process sees a write at once, but it survives a loss of power only if it
 * was synced. The disk is harsher than any real one: unsynced parts are lost or kept in any combination.
 */
import { constants, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { Disk } from "../../provider/src/files/private-file.js";

interface Node {
  readonly number: number;
  readonly isFolder: boolean;
  mode: number;
  /** The content that every process sees. */
  text: Buffer;
  /** The synced content, which survives a loss of power. Replaced, never changed in place. */
  synced: Buffer;
}

/** A change that may not be on the disk yet. */
type Unsynced =
  /** A write. After a crash, possibly only its beginning is left. */
  | {
      readonly kind: "data";
      readonly node: Node;
      readonly at: number;
      readonly bytes: Buffer | "cut";
    }
  /** A change of a name, which now leads to another file or to none. A rename changes two names at once. */
  | {
      readonly kind: "names";
      readonly folders: readonly string[];
      readonly names: readonly [string, Node | undefined][];
    };

/** The contents of a disk after a crash: files by path, and folders. */
export type Image = ReadonlyMap<string, { readonly text?: Buffer; readonly mode: number }>;

/** A moment at which the power may fail. */
export interface Moment {
  readonly names: ReadonlyMap<string, Node>;
  readonly texts: ReadonlyMap<Node, Buffer>;
  readonly unsynced: readonly Unsynced[];
}

/** What a crash does to an unsynced change: 0 loses it, 1 keeps it, a number between cuts it there. */
export type Fate = number;

type Status = Pick<
  Stats,
  | "mode"
  | "uid"
  | "size"
  | "nlink"
  | "ino"
  | "dev"
  | "mtimeMs"
  | "isFile"
  | "isSymbolicLink"
>;

/** A disk that has only the forms of the system's calls that the package uses. */
export type MemoryDisk = Disk & Omit<MemoryFiles, keyof Disk>;

class MemoryFiles {
  /** Called after each change and each sync: a machine may lose power at each of these moments. */
  onChange: (what: string) => void = () => undefined;
  readonly #names = new Map<string, Node>();
  readonly #syncedNames = new Map<string, Node>();
  readonly #nodes = new Set<Node>();
  readonly #open = new Map<
    number,
    { readonly node: Node; readonly path: string; readonly appends: boolean; at: number }
  >();
  #unsynced: Unsynced[] = [];
  #lastNumber = 2;

  constructor(image: Image = new Map()) {
    this.#syncedNames.set("/", this.#newNode(true, 0o755));
    for (const [path, { text, mode }] of image) {
      const node = this.#newNode(text === undefined, mode);
      node.text = node.synced = text ?? Buffer.alloc(0);
      this.#syncedNames.set(path, node);
    }
    for (const [path, node] of this.#syncedNames) this.#names.set(path, node);
  }

  moment(): Moment {
    const texts = new Map([...this.#nodes].map((node) => [node, node.synced]));
    // Leaves out changes of files that no name leads to any more.
    const named = this.#unsynced.flatMap((each) =>
      each.kind === "names" ? each.names.map(([, node]) => node) : [],
    );
    const reached = new Set([...this.#syncedNames.values(), ...named]);
    this.#unsynced = this.#unsynced.filter(
      (each) => each.kind === "names" || reached.has(each.node),
    );
    return { names: new Map(this.#syncedNames), texts, unsynced: [...this.#unsynced] };
  }

  openSync(path: string, flags: string | number, mode = 0o666): number {
    const asked = typeof flags === "number" ? flags : FLAGS[flags];
    if (asked === undefined) throw new Error(`the flags ${flags} are not known here`);
    let node = this.#names.get(path);
    if (node === undefined) {
      if ((asked & constants.O_CREAT) === 0) throw failure("ENOENT", path);
      node = this.#newNode(false, mode);
      this.#rename([[path, node]], `create ${path}`);
    } else {
      if ((asked & constants.O_EXCL) !== 0) throw failure("EEXIST", path);
      if ((asked & constants.O_TRUNC) !== 0) this.#write(node, 0, "cut", path);
    }
    this.#open.set(++this.#lastNumber, {
      node,
      path,
      appends: (asked & constants.O_APPEND) !== 0,
      at: 0,
    });
    return this.#lastNumber;
  }

  readFileSync(file: number | string, _encoding: "utf8"): string {
    const node = typeof file === "string" ? this.#there(file) : this.#of(file).node;
    return node.text.toString("utf8");
  }

  writeFileSync(file: number, text: string): void {
    const opened = this.#of(file);
    const bytes = Buffer.from(text);
    const at = opened.appends ? opened.node.text.length : opened.at;
    this.#write(opened.node, at, bytes, opened.path);
    opened.at = at + bytes.length;
  }

  ftruncateSync(file: number, bytes: number): void {
    const { node, path } = this.#of(file);
    const kept = node.text.subarray(0, bytes);
    this.#write(node, 0, "cut", path);
    this.#write(node, 0, kept, path);
  }

  fsyncSync(file: number): void {
    const { node, path } = this.#of(file);
    const isMeant = (each: Unsynced) =>
      each.kind === "data" ? each.node === node : each.folders.includes(path);
    for (const each of this.#unsynced.filter(isMeant)) {
      if (each.kind === "data") node.synced = written(node.synced, each.at, each.bytes);
      else for (const [name, target] of each.names) put(this.#syncedNames, name, target);
    }
    this.#unsynced = this.#unsynced.filter((each) => !isMeant(each));
    this.onChange(`sync ${path}`);
  }

  fchmodSync(file: number, mode: number): void {
    this.#of(file).node.mode = mode;
  }

  utimesSync(): void {}

  closeSync(file: number): void {
    this.#of(file);
    this.#open.delete(file);
  }

  fstatSync(file: number): Status {
    return this.#status(this.#of(file).node);
  }

  /** Never fails: every file and folder is writable. */
  accessSync(): void {}

  existsSync(path: string): boolean {
    return this.#names.has(path);
  }

  statSync(path: string): Status | undefined {
    const node = this.#names.get(path);
    return node && this.#status(node);
  }

  lstatSync(path: string) {
    return this.statSync(path);
  }

  linkSync(from: string, to: string): void {
    const node = this.#there(from);
    if (this.#names.has(to)) throw failure("EEXIST", to);
    this.#rename([[to, node]], `link ${to}`);
  }

  renameSync(from: string, to: string): void {
    const node = this.#there(from);
    this.#rename(
      [
        [to, node],
        [from, undefined],
      ],
      `rename ${from} to ${to}`,
    );
  }

  rmSync(path: string): void {
    if (this.#names.has(path)) this.#rename([[path, undefined]], `remove ${path}`);
  }

  mkdirSync(path: string, { mode }: { readonly mode: number }): string | undefined {
    if (this.#names.has(path)) return undefined;
    const first = this.mkdirSync(dirname(path), { mode });
    this.#rename([[path, this.#newNode(true, mode)]], `make ${path}`);
    return first ?? path;
  }

  readdirSync(path: string): string[] {
    this.#there(path);
    return [...this.#names.keys()]
      .filter((name) => name !== "/" && dirname(name) === path)
      .map((name) => name.slice(join(path, "/").length));
  }

  #newNode(isFolder: boolean, mode: number): Node {
    const node = {
      number: this.#nodes.size + 1,
      isFolder,
      mode,
      text: Buffer.alloc(0),
      synced: Buffer.alloc(0),
    };
    this.#nodes.add(node);
    return node;
  }

  #of(file: number) {
    const opened = this.#open.get(file);
    if (opened === undefined) throw failure("EBADF", String(file));
    return opened;
  }

  #there(path: string): Node {
    const node = this.#names.get(path);
    if (node === undefined) throw failure("ENOENT", path);
    return node;
  }

  #write(node: Node, at: number, bytes: Buffer | "cut", path: string): void {
    node.text = written(node.text, at, bytes);
    this.#unsynced.push({ kind: "data", node, at, bytes });
    this.onChange(`write ${path}`);
  }

  #rename(names: readonly [string, Node | undefined][], what: string): void {
    for (const [name] of names) this.#there(dirname(name));
    for (const [name, node] of names) put(this.#names, name, node);
    this.#unsynced.push({
      kind: "names",
      folders: names.map(([name]) => dirname(name)),
      names,
    });
    this.onChange(what);
  }

  #status(node: Node) {
    const uid = process.getuid?.() ?? 0;
    return {
      mode: node.mode,
      uid,
      size: node.text.length,
      nlink: [...this.#names.values()].filter((each) => each === node).length,
      mtimeMs: 0,
      ino: node.number,
      dev: 1,
      isFile: () => !node.isFolder,
      isSymbolicLink: () => false,
    };
  }
}

/** The disk after a loss of power at a moment. @param fates the fate of each unsynced change, in their order. */
export function imageAfter(
  { names, texts, unsynced }: Moment,
  fates: readonly Fate[],
): Image {
  const left = new Map(names);
  const held = new Map(texts);
  for (const [index, each] of unsynced.entries()) {
    const fate = fates[index] ?? 0;
    if (fate === 0) continue;
    if (each.kind === "names") {
      for (const [name, node] of each.names) put(left, name, node);
    } else if (each.bytes === "cut") {
      held.set(each.node, Buffer.alloc(0));
    } else {
      const kept = each.bytes.subarray(0, Math.round(each.bytes.length * fate));
      held.set(each.node, written(held.get(each.node) ?? Buffer.alloc(0), each.at, kept));
    }
  }
  const isReached = (path: string): boolean =>
    path === "/" || (left.has(path) && isReached(dirname(path)));
  return new Map(
    [...left]
      .filter(([path]) => path !== "/" && isReached(path))
      .map(([path, node]) => [
        path,
        {
          mode: node.mode,
          ...(node.isFolder ? {} : { text: held.get(node) ?? Buffer.alloc(0) }),
        },
      ]),
  );
}

const FLAGS: Readonly<Record<string, number>> = {
  a: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
  w: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
  wx: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
};

/** Fills a gap between written bytes with zeros. */
function written(text: Buffer, at: number, bytes: Buffer | "cut"): Buffer {
  if (bytes === "cut") return Buffer.alloc(0);
  if (bytes.length === 0) return text;
  const all = Buffer.alloc(Math.max(text.length, at + bytes.length));
  text.copy(all);
  bytes.copy(all, at);
  return all;
}

function put(names: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

export const MemoryDisk = MemoryFiles as unknown as new (image?: Image) => MemoryDisk;
