/** Before `npm pack` in `provider/`: the pages that the package has. */
import { inRoot } from "../lib/base.mjs";
import { writePages } from "./docs.mjs";
import { factsOf } from "./facts.mjs";

writePages(inRoot("provider", "docs"), factsOf(process.env));
