/** `npm run operator -- products FILE`: what it sends, and what it says. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Commands } from "./support/commands.ts";
import { Project } from "./support/project.ts";

const REPORT = { feed: "", accepted: 1, rejected: 0, rejected_lines: [], unknown_domains: [], removed: null, dry_run: false };
const HEADER = "id,title,link,price\n";
const LINE = "1,Boots,https://shoes.example/1,10\n";

describe("npm run operator -- products", () => {
	const project = new Project();
	const commands = new Commands(project);
	let server: Server;
	let url: string;
	let seen: { path: string; query: Record<string, string>; body: string }[] = [];
	let answers: { status: number; body: object }[] = [];

	beforeAll(async () => {
		server = createServer(async (request, response) => {
			const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
			const sent = await buffer(request);
			seen.push({ path: pathname, query: Object.fromEntries(searchParams), body: sent.length === 0 ? "" : gunzipSync(sent).toString() });
			const { status, body } = answers.shift() ?? { status: 200, body: REPORT };
			response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		writeFileSync(join(project.folder, ".dev.vars"), "OPERATOR_KEY=key-from-dev-vars\n");
		writeFileSync(join(project.folder, "feed.csv"), HEADER + LINE);
		writeFileSync(join(project.folder, "feed.csv.gz"), gzipSync(HEADER + LINE));
		writeFileSync(join(project.folder, "broken.csv.gz"), gzipSync(HEADER + LINE.repeat(1_000)).subarray(0, 60));
		writeFileSync(join(project.folder, "mapping.json"), '{"Preis":"final_price"}');
		writeFileSync(join(project.folder, "broken.json"), "{");
	});

	beforeEach(() => {
		seen = [];
		answers = [];
	});

	afterAll(async () => {
		server.close();
		await commands.end();
		await project.dispose();
	});

	const run = (command: string, ...arguments_: string[]) => commands.run([command, ...arguments_, "--url", url]);

	it("sends a file, a gzip file or standard input, with the mapping and values for the whole feed", async () => {
		const options = ["--mapping", "mapping.json", "--set", "domain=shoes.example", "--set", "currency=EUR", "--id-prefix", "de-"];
		for (const file of ["feed.csv", "feed.csv.gz", "-"]) {
			seen = [];
			const { code, stdout } = await project.operator(["seller-products", file, ...options, "--url", url], { input: HEADER + LINE });
			expect(stdout).toMatch(/^Accepted: 1\nDone in/);
			expect(code).toBe(0);
			expect(seen).toEqual([
				{
					path: "/operator/seller-products",
					query: { domain: "shoes.example", currency: "EUR", id_prefix: "de-", mapping: '{"Preis":"final_price"}', line: "2" },
					body: HEADER + LINE,
				},
			]);
		}
	});

	it("sends text of another encoding as UTF-8, and refuses a name that is none", async () => {
		writeFileSync(join(project.folder, "latin.csv"), Buffer.from(`${HEADER}1,Caf\u00e9,https://shoes.example/1,10\n`, "latin1"));
		const { code } = await run("products", "latin.csv", "--encoding", "windows-1252");
		expect(code).toBe(0);
		expect(seen).toMatchObject([{ query: { line: "2" }, body: expect.stringContaining("Caf\u00e9") }]);
		expect(seen[0]?.query).not.toHaveProperty("encoding");
		const refused = await run("products", "latin.csv", "--encoding", "latin");
		expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("such as windows-1252")]);
		expect(seen).toHaveLength(1);
	});

	it("only asks what would be taken over where it is to", async () => {
		answers = [{ status: 200, body: { ...REPORT, dry_run: true } }];
		const { code, stdout } = await run("products", "feed.csv", "--replace", "--dry-run");
		expect([code, stdout]).toEqual([0, "Would be accepted: 1\nNothing was written. What would be removed is known once it is.\n"]);
		expect(seen.map(({ query }) => query)).toEqual([{ dry_run: "1", line: "2" }]);
	});

	it("cuts a large feed into parts with the header, and has the others removed at the end", async () => {
		const lines = Array.from({ length: 200_000 }, (_, at) => `${at},Boots of a rather long name,https://shoes.example/products/${at},10\n`);
		writeFileSync(join(project.folder, "large.csv"), HEADER + lines.join(""));
		const removed = { status: 200, body: { ...REPORT, accepted: 0, removed: 7 } };
		answers = [{ status: 200, body: REPORT }, { status: 200, body: REPORT }, removed];
		const { code, stdout } = await run("products", "large.csv", "--replace", "--yes");
		expect(stdout).toMatch(/Accepted: 2\nRemoved: {2}7 that the feed no longer has/);
		expect(code).toBe(0);
		expect(seen).toHaveLength(3);
		const [first, second, last] = seen;
		expect(new Set(seen.map(({ query }) => query.feed)).size).toBe(1);
		expect(last).toMatchObject({ query: { replace: "domains", yes: "1" }, body: "" });
		expect([first?.query.yes, second?.query.yes]).toEqual([undefined, undefined]);
		expect([first?.body, second?.body].map((body) => body?.slice(HEADER.length)).join("")).toBe(lines.join(""));
		expect(second?.body.startsWith(HEADER)).toBe(true);
		expect(Number(second?.query.line)).toBe(first?.body.split("\n").length ?? 0);
	});

	it("prints rejected records with line and reason, and unknown brands; nothing accepted is exit code 1", async () => {
		const rejected = { rejected: 3, rejected_lines: [{ line: 4, reason: "url is required" }], unknown_domains: ["new.example"] };
		answers = [{ status: 200, body: { ...REPORT, ...rejected } }];
		const partly = await run("products", "feed.csv");
		expect(partly.stdout).toContain("Rejected: 3\n  line 4: url is required\n  … and 2 more\nNo brand of the network: new.example\n");
		expect(partly.code).toBe(0);
		answers = [{ status: 200, body: { ...REPORT, ...rejected, accepted: 0 } }];
		const none = await run("products", "feed.csv");
		expect(none.code).toBe(1);
		expect(none.stderr).toContain("No product was accepted");
	});

	it("asks for no removal where most records were rejected", async () => {
		answers = [{ status: 200, body: { ...REPORT, rejected: 9 } }];
		const { code, stderr } = await run("products", "feed.csv", "--replace-all");
		expect(seen).toHaveLength(1);
		expect(stderr).toContain("Nothing was removed, because most records were rejected.");
		expect(code).toBe(1);
	});

	it("sends a part again where the server fails", async () => {
		answers = [{ status: 500, body: { error: "Internal error" } }];
		const { code } = await run("products", "feed.csv");
		expect(code).toBe(0);
		expect(seen.map(({ body }) => body)).toEqual([HEADER + LINE, HEADER + LINE]);
	});

	it.each([
		[
			"a feed that cannot be read to its end",
			["feed.csv"],
			{ status: 422, body: { ...REPORT, incomplete: true, message: "The feed is empty." } },
			"The feed is empty.",
		],
		[
			"an option at fault",
			["feed.csv", "--set", "nme=x"],
			{ status: 422, body: { error: "Validation failed", faults: [{ path: "nme", message: "is no field" }], fault_count: 1 } },
			"nothing was changed:\n  --set nme: is no field",
		],
		["no such file", ["nothing.csv"], null, "there is no such file"],
		["a folder", ["src"], null, "it is a folder"],
		["broken gzip", ["broken.csv.gz"], null, "gzip is broken or ends too early"],
		["a mapping that is no JSON", ["feed.csv", "--mapping", "broken.json"], null, "is not valid JSON"],
		[
			"two values of a field",
			["feed.csv", "--set", "currency=EUR", "--set", "currency=USD"],
			null,
			"--set currency is given more than once",
		],
		["a value without a field", ["feed.csv", "--set", "shoes.example"], null, "FIELD=VALUE"],
	])("%s: exit code 1 and what to do", async (_name, arguments_, answer, message) => {
		if (answer !== null) answers = [answer];
		const { code, stderr } = await run("products", ...arguments_);
		expect(stderr).toContain(message);
		expect(stderr).not.toContain("    at ");
		expect(code).toBe(1);
	});
});
