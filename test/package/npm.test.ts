import { describeInstalledBy } from "./installed.js";

describeInstalledBy("npm");
