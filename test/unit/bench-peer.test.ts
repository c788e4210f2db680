/** Which tool and provider `npm run bench -- --peer` finds, and the files that it writes for them. Neither tool is needed here. */
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { findPeer, peerFiles } from "../../scripts/lib/bench-peer.mjs";
import { programName } from "../../scripts/lib/paths.mjs";

const program = (folder: string, name: string) => join(folder, programName(name));
const REST = "terraform-provider-restapi";

it.each<[string, [string, string][], object]>([
  [
    "OpenTofu before Terraform, wherever on the PATH they are",
    [
      ["a", "terraform"],
      ["b", "tofu"],
      ["c", REST],
    ],
    { tool: program("b", "tofu"), provider: program("c", REST), name: "OpenTofu with a generic REST provider" },
  ],
  [
    "Terraform if there is no OpenTofu",
    [
      ["b", "terraform"],
      ["a", REST],
    ],
    { tool: program("b", "terraform"), provider: program("a", REST), name: "Terraform with a generic REST provider" },
  ],
  [
    "the first on the PATH",
    [
      ["c", "tofu"],
      ["b", "tofu"],
      ["b", REST],
      ["c", REST],
    ],
    { tool: program("b", "tofu"), provider: program("b", REST), name: "OpenTofu with a generic REST provider" },
  ],
  ["no provider", [["a", "tofu"]], { missing: REST }],
  ["no tool", [["a", REST]], { missing: "tofu or terraform" }],
  ["neither", [["d", "tofu"]], { missing: `tofu or terraform and ${REST}` }],
])("finds: %s", (_, programs, expected) => {
  const there = programs.map(([folder, name]) => program(folder, name));
  expect(findPeer(["a", "", "b", "c"].join(delimiter), (path: string) => there.includes(path))).toEqual(expected);
});

it("takes the provider from the folder where it is, and names no other source", () => {
  const files = peerFiles(join("a folder", 'with "quotes"', REST));
  expect(Object.keys(files)).toEqual(["main.tf", "cli.tfrc"]);
  expect(files["cli.tfrc"]).toContain(`"mastercard/restapi" = ${JSON.stringify(join("a folder", 'with "quotes"'))}`);
  expect(files["cli.tfrc"]).not.toContain("direct");
});

it("creates what the other programs create, and keeps the session out of its files", () => {
  const { "main.tf": text } = peerFiles(join("a", REST));
  for (const field of ["event_name    = ", "event_type_id = 0", "count_unique  = true", "click_window  = 604800"]) {
    expect(text).toContain(field);
  }
  expect(text).toContain("var.cookie");
  expect(text).not.toContain("service_cookie");
});
