/** The creates that are measured without an engine. */

export const IN_FLIGHT = 16;

/** The request of one event. */
export const fieldsOf = (i, advertiser_id) => ({
  event_name: `Event ${i}`,
  advertiser_id,
  event_type_id: 0,
  value: 25,
  count_unique: true,
  click_window: 604800,
  view_window: 86400,
  attribution: "ALL",
});

/** Calls `work` with 0, 1, … up to `count`, so many at once. */
export async function forEachInFlight(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}
