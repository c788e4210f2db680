/**
 * Binds a stored session to the password that opened it, so that a changed password is tried and not hidden by a session
 * from before. The file holds a salted verifier that is costly to guess against (scrypt, RFC 7914), never the password or a
 * fast digest of it.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { z } from "zod";

/** 32 MiB of memory and about 80 ms on one core for each guess. Other values need a new version of the file's format. */
const COST = { N: 32_768, r: 8, p: 1 } as const;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const BYTES = 32;

export const verifierSchema = z.object({
  algorithm: z.literal("scrypt"),
  N: z.literal(COST.N),
  r: z.literal(COST.r),
  p: z.literal(COST.p),
  salt: z.base64(),
  hash: z.base64(),
});

/** What is stored in the place of a password. */
export type Verifier = z.infer<typeof verifierSchema>;

/** This machine can't compute a verifier, as where scrypt is not allowed. */
export class NoVerifier extends Error {}

/** For one password; each salt is computed once. */
export class PasswordCheck {
  readonly #password: string;
  readonly #hashes = new Map<string, Promise<Buffer>>();
  #verifier: Promise<Verifier> | undefined;

  constructor(password: string) {
    this.#password = password;
  }

  async matches(stored: Verifier): Promise<boolean> {
    const [expected, found] = [await this.#hash(stored.salt), Buffer.from(stored.hash, "base64")];
    if (found.length !== expected.length || !timingSafeEqual(found, expected)) return false;
    this.#verifier ??= Promise.resolve(stored);
    return true;
  }

  /** For a session that this password has opened; one that matched serves again. */
  verifier(): Promise<Verifier> {
    this.#verifier ??= this.#newVerifier();
    return this.#verifier;
  }

  async #newVerifier(): Promise<Verifier> {
    const salt = randomBytes(BYTES).toString("base64");
    return { algorithm: "scrypt", ...COST, salt, hash: (await this.#hash(salt)).toString("base64") };
  }

  #hash(salt: string): Promise<Buffer> {
    let hash = this.#hashes.get(salt);
    if (hash === undefined) {
      hash = derive(this.#password, Buffer.from(salt, "base64"));
      this.#hashes.set(salt, hash);
    }
    return hash;
  }
}

/** In a thread of its own: requests go on meanwhile. */
function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, BYTES, { ...COST, maxmem: MAX_MEMORY_BYTES }, (error, hash) =>
      error === null ? resolve(hash) : reject(new NoVerifier(`its password can't be checked (${error.message})`)),
    );
  });
}
