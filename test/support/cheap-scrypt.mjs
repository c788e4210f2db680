/**
 * For tests without Pulumi: what is computed of a password costs nothing. For each client it is 80 ms of a core, by design, and there are
 * thousands of them. Real runs pay that (test/engine).
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const { scrypt } = crypto;
crypto.scrypt = (password, salt, length, _cost, done) => scrypt(password, salt, length, { N: 2 }, done);
syncBuiltinESMExports();
