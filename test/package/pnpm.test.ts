import { describeInstalledBy } from "./installed.js";

describeInstalledBy("pnpm", "npm");
