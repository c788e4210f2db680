/** `plugin/`: a provider plugin in front of `operations/`, for programs in any of Pulumi's languages. */
export { AdvertisingPlugin } from "./provider.js";
