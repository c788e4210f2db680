import pulumi
import pulumi_advertising as advertising

acme = advertising.Advertiser("acme", advertiser_name="Acme Shoes")

pulumi.export("advertiserId", acme.advertiser_id)
