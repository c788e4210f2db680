/** The rules of a catalog's own arguments. */
import { z } from "zod";
import { expecting, type Rules, truth } from "../rules/index.js";

export const CATALOG_RULES: Rules = z.strictObject({
  file: expecting("the path of a file, known when the program runs", z.string().min(1)),
  sets: truth.optional(),
});
