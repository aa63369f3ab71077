/** `certify` as a package of its own: it runs in a folder without this checkout, and writes both reports. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const folder = mkdtempSync(join(tmpdir(), "clickbourse-certify-"));
let server: Server;

/** What the package could call of this Node that the earliest which it names does not have. */
const LACKED_BY_NODE_20_11 = encodeURIComponent(
	"delete URL.parse; delete Promise.withResolvers; delete Promise.try; delete Map.groupBy; delete Object.groupBy; delete RegExp.escape;",
);

/** Runs a program to its end. */
function run(
	program: string,
	args: readonly string[],
	cwd: string,
	ofNode: readonly string[] = [],
): Promise<{ code: number; output: string }> {
	return new Promise((resolve) => {
		execFile(process.execPath, [...ofNode, program, ...args], { cwd }, (error, stdout, stderr) => {
			resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
		});
	});
}

beforeAll(async () => {
	// Bids for nobody called quiet, goes away where bids for gone are timed, and answers all else by what is no bid: some rules hold even so.
	server = createServer(async (request, response) => {
		if (request.url?.endsWith("/quiet")) return response.writeHead(204, { "x-openrtb-version": "2.5" }).end();
		if (request.url?.endsWith("/gone") && /"id":"certify-\d/.test(await text(request))) return response.destroy();
		return response.writeHead(200, { "content-type": "application/json", "x-openrtb-version": "2.5" }).end('{"id":"\\u009b2J"}');
	});
	await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
});

afterAll(() => {
	server.close();
	rmSync(folder, { recursive: true, force: true });
});

it("unit: certify runs from its own folder, of less than 100 kB, and reports to people, as JSON and as JUnit XML", {
	timeout: 60_000,
}, async () => {
	const packed = await run("scripts/run.mjs", ["scripts/pack-certify.ts", folder], ROOT);
	expect(packed.code, packed.output).toBe(0);
	expect(readdirSync(folder).sort()).toEqual(["LICENSE", "LICENSES-OF-PACKAGES.txt", "README.md", "certify.mjs", "package.json"]);
	expect(statSync(join(folder, "certify.mjs")).size).toBeLessThan(100_000);
	expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({ bin: "certify.mjs", type: "module" });
	expect(readFileSync(join(folder, "README.md"), "utf8")).not.toContain("npm run certify");
	expect(readFileSync(join(folder, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
	// What npm hands on of the folder: LICENSE and README.md without being named.
	const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { files: string[] };
	expect(files).toEqual(["certify.mjs", "LICENSES-OF-PACKAGES.txt"]);
	const ofPackages = readFileSync(join(folder, "LICENSES-OF-PACKAGES.txt"), "utf8");
	expect(ofPackages).toMatch(/^commander \d+\.\d+\.\d+$/m);
	expect(ofPackages).toContain(readFileSync(join(ROOT, "node_modules/commander/LICENSE"), "utf8").trim());

	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const subject = ["--url", url, "--identity", "acme_rtb", "--domain", "shoes.example"];
	const { code, output } = await run("certify.mjs", [...subject, "--profile", "full", "--json", "r.json", "--junit", "r.xml"], folder);
	expect(code, output).toBe(1);
	expect(output).toMatch(/\d+ rules are broken\./);
	// What the endpoint answers is nothing that a terminal obeys.
	expect(output).toContain('id is "\\u009b2J"');
	const { groups } = JSON.parse(readFileSync(join(folder, "r.json"), "utf8")) as { groups: Record<string, { rule: string }[]> };
	const rules = Object.values(groups).flat();
	const junit = readFileSync(join(folder, "r.xml"), "utf8");
	expect(junit.match(/<testcase /g)).toHaveLength(rules.length);
	expect(rules.map(({ rule }) => rule)).toContain("a bid in full has crid, cid, mtype 4 and exp");

	const quiet = ["--url", url, "--identity", "quiet", "--domain", "shoes.example", "--json", "quiet.json", "--junit", "quiet.xml"];
	const unbid = await run("certify.mjs", quiet, folder);
	expect([unbid.code, unbid.output]).toEqual([1, expect.stringContaining("shoes.example does not bid for quiet")]);
	const found = { groups: { "OpenRTB 2.5": [{ rule: "the brand bids", outcome: "fail" }] }, p50: null };
	expect(JSON.parse(readFileSync(join(folder, "quiet.json"), "utf8"))).toMatchObject(found);
	expect(readFileSync(join(folder, "quiet.xml"), "utf8")).toMatch(
		/tests="1" failures="1" skipped="0">\n<testcase [^>]*name="the brand bids"><failure message="shoes\.example does not bid for quiet/,
	);

	const gone = await run("certify.mjs", ["--url", url, "--identity", "gone", "--domain", "shoes.example", "--json", "gone.json"], folder);
	expect([gone.code, gone.output]).toEqual([1, expect.stringContaining(`${url} answers no longer: bid 1 of `)]);
	expect(gone.output).not.toContain("    at ");
	const judged: { groups: object; p50: unknown } = JSON.parse(readFileSync(join(folder, "gone.json"), "utf8"));
	expect([Object.keys(judged.groups), judged.p50]).toEqual([Object.keys(groups), null]);

	const unwritten = await run("certify.mjs", [...subject, "--junit", join("missing", "r.xml")], folder);
	expect(unwritten.code).toBe(1);
	expect(unwritten.output).toContain(`The report cannot be written to ${join("missing", "r.xml")}: ENOENT.`);
	expect(unwritten.output).not.toContain("at async");
	for (const [option, value] of [
		["--domain", "https://shoes.example/"],
		["--publisher-id", ""],
		["--keyword", " "],
		["--identity", "acme/rtb"],
		["--deeplink", "shoes.example/new"],
		["--url", `${url}/base`],
	] as const) {
		const refused = await run("certify.mjs", [...subject, option, value], folder);
		expect([refused.code, refused.output]).toEqual([1, expect.stringContaining(`${option} must be `)]);
	}
	const nobody = createServer().listen(0, "127.0.0.1");
	await once(nobody, "listening");
	const nowhere = `http://127.0.0.1:${(nobody.address() as AddressInfo).port}`;
	nobody.close();
	await once(nobody, "close");
	const away = await run("certify.mjs", ["--url", nowhere, "--identity", "acme_rtb", "--domain", "shoes.example"], folder);
	expect([away.code, away.output]).toEqual([1, expect.stringContaining(`${nowhere} does not answer (ECONNREFUSED).`)]);
	const early = await run("certify.mjs", [...subject, "--publisher-id", "1001"], folder, [
		"--import",
		`data:text/javascript,${LACKED_BY_NODE_20_11}`,
	]);
	expect(early.output).toMatch(/\d+ rules are broken\./);
	const misspelt = await run("scripts/run.mjs", ["scripts/pack-certify.ts", "--help"], ROOT);
	expect(misspelt).toEqual({ code: 1, output: expect.stringContaining("usage: ") });
});
