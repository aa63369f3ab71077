import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { issueDemoLinks } from "../../../scripts/start/demo-sign-in.ts";

/** Whatever is asked for is answered so, as often as `asked` then tells. */
async function answering(status: number, body: object) {
	let asked = 0;
	const server = createServer((_, response) => {
		asked++;
		response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { origin, asked: () => asked, [Symbol.dispose]: () => void server.close() };
}

describe("links into the console that a start prints", () => {
	test("are left out, and why is said once, where the database takes no writes: the server runs on", async () => {
		const said = vi.spyOn(console, "error").mockImplementation(() => {});
		using server = await answering(503, { error: "The network database is being moved" });
		expect(await issueDemoLinks(server.origin, "key")).toBeNull();
		expect(server.asked()).toBe(1);
		expect(said.mock.calls).toEqual([[expect.stringContaining("takes no writes now")]]);
	});

	test("end the start where the server fails otherwise", async () => {
		using server = await answering(500, { error: "Internal error" });
		await expect(issueDemoLinks(server.origin, "key")).rejects.toThrow("HTTP 500");
	});
});
