/** The README of an SDK. */

const PROGRAMS = {
  python: `\`\`\`python
import pulumi
import pulumi_advertising as advertising

acme = advertising.Advertiser("acme", advertiser_name="Acme Shoes")
purchase = advertising.ConversionEvent(
    "purchase",
    event_name="Purchase",
    advertiser_id=acme.advertiser_id,
    value=25,
    event_type_id=advertising.EventType.PURCHASE,
)
pulumi.export("eventId", purchase.event_id)
\`\`\``,
  nodejs: `\`\`\`ts
import * as advertising from "pulumi-advertising-sdk";

const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
const purchase = new advertising.ConversionEvent("purchase", {
    eventName: "Purchase",
    advertiserId: acme.advertiserId,
    value: 25,
    eventTypeId: advertising.EventType.Purchase,
});
export const eventId = purchase.eventId;
\`\`\``,
};

/** @param language of the SDK. @param facts of the release. */
export function readmeOf(language, { version, repository }) {
  const install = `pulumi plugin install resource advertising ${version}`;
  const plugin = repository
    ? `Pulumi installs the plugin when it first needs it, from ${repository}/releases.`
    : `Install the plugin from its archive:

\`\`\`sh
${install} --file <archive>
\`\`\``;
  const more = repository ? [`Documentation: ${repository}#readme`] : [];
  return [
    "# Advertisers and conversion events of an advertising platform, for Pulumi",
    plugin,
    "Settings of the stack:",
    `\`\`\`sh
pulumi config set advertising:baseUrl https://platform.example.com
pulumi config set advertising:email you@example.com
pulumi config set --secret advertising:password
\`\`\``,
    PROGRAMS[language],
    ...more,
    "",
  ].join("\n\n");
}
