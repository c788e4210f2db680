/** What a release says about itself: its version, and addresses in the repository that runs it. */
import { inRoot, Problem, readJson } from "../lib/base.mjs";

/** The Go module where no repository is known, as in `examples/resources/go`. */
export const GO_MODULE = "pulumi-advertising/sdk/go/advertising";

/**
 * @param environment the process's. Without GITHUB_REPOSITORY, which GitHub sets in its workflows, there are no addresses.
 * @returns `{ version, repository, homepage, messagesPage, pluginDownloadURL, goModule }`.
 */
export function factsOf(environment) {
  const { GITHUB_REPOSITORY: name, GITHUB_SERVER_URL: server } = environment;
  const { version } = readJson(inRoot("provider", "package.json"));
  if (!name) return { version, goModule: GO_MODULE };
  const repository = `${server || "https://github.com"}/${name}`;
  if (!/^[\w.-]+\/[\w.-]+$/.test(name))
    throw new Problem(`GITHUB_REPOSITORY: expected owner/name, got "${name}".`);
  if (!/^https?:/.test(repository) || !URL.canParse(repository))
    throw new Problem(`GITHUB_SERVER_URL: expected https://…, got "${server}".`);
  const { host } = new URL(repository);
  return {
    version,
    repository,
    homepage: `${repository}#readme`,
    messagesPage: `${repository}/blob/v${version}/docs/messages.md`,
    pluginDownloadURL: `github://api.${host}/${name}`,
    goModule: GO_MODULE.replace(/^[^/]*/, `${host}/${name}`),
  };
}
