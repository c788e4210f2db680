import type { Fault } from "../../provider/src/sandbox/index.js";

const html = { "content-type": "text/html" };

/** Faults after which it is unknown whether a create was carried out. */
export const lostAnswers: Fault[] = [
  { kind: "close-without-answer" },
  { kind: "reset" },
  { kind: "half-body" },
  { kind: "bad-length" },
  { kind: "bad-chunk" },
  { kind: "garbage" },
  { kind: "answer", status: 500, body: { message: "internal" } },
  { kind: "answer", status: 502, headers: html, body: "<html>Bad gateway</html>" },
  { kind: "answer", status: 200, body: { success: true } },
  { kind: "answer", status: 200, headers: html, body: "<html><title>Maintenance</title></html>" },
  { kind: "answer", status: 204 },
  { kind: "answer", status: 307, headers: { location: "/elsewhere" } },
];
