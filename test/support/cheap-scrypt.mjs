/**
 * For tests without Pulumi: makes scrypt cheap. By design it takes each client 80 ms of a core, and there are thousands
 * of clients. Real runs (test/engine) pay that.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const { scryptSync } = crypto;
crypto.scryptSync = (password, salt, length, _cost) =>
  scryptSync(password, salt, length, { N: 2 });
syncBuiltinESMExports();
