/** The words that are quoted from an answer to an event's create. */
import { wordsOf } from "../../provider/src/client/words.js";
import { answer } from "./answers.js";

const fields = ["event_name", "advertiser_id", "value"];
export const SENT = { event_name: "purchase of shoes", advertiser_id: 3, value: 1, colour: ["dark red"] };
export const HTML = { "content-type": "text/html" };

export const read = (
  status: number,
  body: unknown,
  headers = {},
  sent: object = SENT,
  clean: (text: string) => string = String,
) => wordsOf(answer(status, body, headers), { fields, sent: { ...sent }, clean });
