import type { FaultRule } from "../../provider/src/sandbox/index.js";
import { badChunk, garbage, halfBody, twoLengths } from "./wire-faults.js";

const html = { "content-type": "text/html" };

/** Faults after which it is unknown whether a create was carried out. */
export const lostAnswers: FaultRule["with"][] = [
  { kind: "close-without-answer" },
  { kind: "reset" },
  halfBody,
  twoLengths,
  badChunk,
  garbage,
  { kind: "answer", status: 500, body: { message: "internal" } },
  { kind: "answer", status: 502, headers: html, body: "<html>Bad gateway</html>" },
  { kind: "answer", status: 200, body: { success: true } },
  {
    kind: "answer",
    status: 200,
    headers: html,
    body: "<html><title>Maintenance</title></html>",
  },
  { kind: "answer", status: 204 },
  { kind: "answer", status: 307, headers: { location: "/elsewhere" } },
];
