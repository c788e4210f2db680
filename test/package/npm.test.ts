import { describeProgramsInstalledBy } from "./programs.js";

describeProgramsInstalledBy("npm", "pnpm");
