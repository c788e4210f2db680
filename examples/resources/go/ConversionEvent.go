package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"pulumi-advertising/sdk/go/advertising"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		acme, err := advertising.NewAdvertiser(ctx, "acme", &advertising.AdvertiserArgs{
			AdvertiserName: pulumi.String("Acme Shoes"),
		})
		if err != nil {
			return err
		}
		purchase, err := advertising.NewConversionEvent(ctx, "purchase", &advertising.ConversionEventArgs{
			EventName:    pulumi.String("Purchase"),
			AdvertiserId: acme.AdvertiserId,
			Value:        pulumi.Float64(25),
			EventTypeId:  pulumi.Int(advertising.EventTypePurchase),
			ClickWindow:  pulumi.Int(7 * 24 * 3600),
		})
		if err != nil {
			return err
		}
		ctx.Export("eventId", purchase.EventId)
		return nil
	})
}
