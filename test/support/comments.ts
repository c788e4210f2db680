/** Comments of a pull request, served as by GitHub's and GitLab's APIs, two a page. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Comment {
  readonly id: number;
  body: string;
  /** The comment's author. */
  readonly user: { readonly login: string };
}

const PER_PAGE = 2;

/** Starts the server, which ends with the test. @param token required in each request. @param comments existing ones. */
export async function serveComments(
  token: string,
  comments: Comment[],
): Promise<{ readonly url: string }> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const given =
      request.headers["private-token"] ??
      request.headers.authorization?.replace(/^(token|Bearer) /, "");
    if (given !== token) return answer(response, 401, { message: "401 Unauthorized" });
    const [, id] = /(?:comments|notes)\/(\d+)$/.exec(pathname) ?? [];
    if (request.method === "GET") {
      const page = Number(searchParams.get("page") ?? 1);
      const shown = comments.slice((page - 1) * PER_PAGE, page * PER_PAGE);
      const isLast = page * PER_PAGE >= comments.length;
      response.setHeader("x-next-page", isLast ? "" : String(page + 1));
      if (!isLast)
        response.setHeader("link", `<${url}${pathname}?page=${page + 1}>; rel="next"`);
      return answer(
        response,
        200,
        shown.map((each) => ({
          ...each,
          url: `${url}/repos/acme/shop/issues/comments/${each.id}`,
        })),
      );
    }
    const { body } = JSON.parse(await text(request)) as { body: string };
    const found = comments.find((each) => String(each.id) === id);
    if (request.method === "POST" && id === undefined) {
      comments.push({
        id: 100 + comments.length,
        body,
        user: { login: "github-actions[bot]" },
      });
      return answer(response, 201, {});
    }
    if ((request.method === "PATCH" || request.method === "PUT") && found !== undefined) {
      found.body = body;
      return answer(response, 200, {});
    }
    return answer(response, 404, { message: "404 Not Found" });
  });
  await new Promise<void>((resolved) => server.listen(0, "127.0.0.1", resolved));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify(body));
}
