/** The operations as data, and where each of them goes. */
import { expect, it } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { addressOf } from "../../provider/src/kinds/request.js";

it.each([advertiser, conversionEvent])("an operation knows every field: $name", ({ create, wireNames }) => {
  expect(create.fields).toEqual(Object.values(wireNames));
  expect(create).toMatchObject({ method: "POST", repeatable: false });
});

it("an operation's address has its query, and its values percent-encoded", () => {
  const search = { ...conversionEvent.create, method: "GET", path: "rest/event?alternative_id={mark}" } as const;
  expect(addressOf(search, "https://x.example/api", { mark: "a/b&c=ä" }).href).toBe(
    "https://x.example/api/rest/event?alternative_id=a%2Fb%26c%3D%C3%A4",
  );
  expect(addressOf({ ...search, path: "rest/event/{id}" }, "https://x.example", { id: "../7?x" }).href).toBe(
    "https://x.example/rest/event/..%2F7%3Fx",
  );
  expect(addressOf(advertiser.create, "https://x.example").href).toBe("https://x.example/rest/advertiser");
});
