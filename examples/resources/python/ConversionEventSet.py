import pulumi
import pulumi_advertising as advertising

acme = advertising.Advertiser("acme", advertiser_name="Acme Shoes")

funnel = advertising.ConversionEventSet(
    "funnel",
    advertiser_id=acme.advertiser_id,
    defaults={"attribution": advertising.Attribution.WHITELIST},
    events={
        "landing": {
            "event_name": "Landing page",
            "value": 0,
            "event_type_id": advertising.EventType.LANDING_PAGE,
        },
        "cart": {"event_name": "Cart", "value": 1.5},
    },
)

pulumi.export("eventIds", funnel.event_ids)
