import { describeProgramsInstalledBy } from "./programs.js";

describeProgramsInstalledBy("pnpm", "npm");
