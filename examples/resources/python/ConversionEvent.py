import pulumi
import pulumi_advertising as advertising

acme = advertising.Advertiser("acme", advertiser_name="Acme Shoes")

purchase = advertising.ConversionEvent(
    "purchase",
    event_name="Purchase",
    advertiser_id=acme.advertiser_id,
    value=25,
    event_type_id=advertising.EventType.PURCHASE,
    click_window=7 * 24 * 3600,
)

pulumi.export("eventId", purchase.event_id)
