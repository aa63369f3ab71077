/**
 * What every endpoint beside the interface's has in common, tried at each that is described: methods that a path does not take, and queries
 * that are empty, given twice, misspelled, or of a time that is none.
 */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Operation } from "../../src/api-docs/operation.ts";
import { OPERATOR_API, PUBLIC_API } from "../../src/api-docs/operations/all.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

/** The interface's, whose answers stand in it, and those that anyone follows. */
const OTHERS =
	/^\/(?:serving-engine|openrtb|click|notice)\b|^\/api\/(?:brands-list|reporting|products|marketplace-seller-products|postback)\b/;
const OWN = [...PUBLIC_API.operations, ...OPERATOR_API.operations].filter(({ path }) => !OTHERS.test(path));
const READS = OWN.filter(({ method, credential }) => method === "get" && credential !== undefined);

/** What some need beside. */
const NEEDED: Readonly<Record<string, string>> = {
	readLearnedPrices: "campaign=1",
	showPostbackUrl: "platform=northwind",
	listCandidateClicks: "click=c-1",
};
const IDS: Readonly<Record<string, string>> = {
	"/operator/platforms/{id}": "northwind",
	"/operator/publishers/{id}": "acme",
	"/operator/brands/{id}": "shoes.example",
	"/operator/people/{id}": "person-1",
};

const pathOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => IDS[path] ?? (name === "platform" ? "northwind" : "1"));

function ask({ path, method, credential }: Operation, query: string, other = method.toUpperCase()): Promise<Response> {
	const headers: Record<string, string> = credential === "AccessKey" ? { AccessKey: ACME.access_key } : OPERATOR_HEADERS;
	return exports.default.fetch(`https://base.example${pathOf(path)}${query}`, { method: other, headers, redirect: "manual" });
}

const queryOf = ({ parameters = [] }: Operation) => parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
const wholeQuery = (id: string, query: string) => `?${[NEEDED[id], query].filter(Boolean).join("&")}`;

/** Without when it was told. */
const told = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "then");

async function answerTo(operation: Operation, query: string): Promise<[number, string]> {
	const response = await ask(operation, query);
	return [response.status, told(await response.text())];
}

async function faultsOf(response: Response): Promise<unknown> {
	const { faults } = await response.json<{ faults?: { path: string; message: string }[] }>();
	return [response.status, ...(faults ?? []).map(({ path, message }) => `${path}: ${message}`)];
}

beforeAll(async () => {
	const brand = brandEntry("shoes.example", 1);
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brand] });
	await env.DB.prepare(
		"INSERT INTO console_people (id, publisher_id, name, role, created_at) VALUES ('person-1', 'acme', 'Ada', 'owner', 0)",
	).run();
});

describe("worker: a method that a path does not take is 405, with Allow", () => {
	const paths = [...new Set(OWN.map(({ path }) => path))];

	it.each(paths)("%s", async (path) => {
		const here = OWN.filter((operation) => operation.path === path);
		const taken = here.map(({ method }) => method.toUpperCase());
		const allow = [...new Set(taken)].sort().flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
		const [first] = here;
		if (first === undefined) throw new Error(path);
		for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((one) => !allow.includes(one))) {
			const response = await ask(first, "", method);
			expect([method, response.status, response.headers.get("allow"), await response.text()]).toEqual([
				method,
				405,
				allow.join(", "),
				method === "HEAD" ? "" : `{"error":"Method not allowed"}`,
			]);
		}
	});
});

describe("worker: an empty parameter of what only reads counts as absent", () => {
	const parameters = READS.flatMap((operation) =>
		queryOf(operation)
			.filter((name) => !NEEDED[operation.id]?.startsWith(`${name}=`))
			.map((name) => [operation.id, name, operation] as const),
	);

	it.each([...Map.groupBy(parameters, ([id]) => id)])("%s", async (id, all) => {
		let plain: [number, string] | null = null;
		for (const [, name, operation] of all) {
			plain ??= await answerTo(operation, wholeQuery(id, ""));
			expect([name, await answerTo(operation, wholeQuery(id, `${name}=`))]).toEqual([name, plain]);
			expect(operation.path.includes("{") || plain[0] === 200).toBe(true);
		}
	});
});

describe("worker: a parameter that is given twice, or not known, is named", () => {
	it.each(READS.map((operation) => [operation.id, operation] as const))("%s", async (id, operation) => {
		const [name] = queryOf(operation);
		if (name !== undefined) {
			const twice = await ask(operation, `?${name}=1&${name}=1`);
			expect(await faultsOf(twice)).toEqual([422, `${name}: is given more than once`]);
			const near = await ask(operation, wholeQuery(id, `${name}x=1`));
			expect(await faultsOf(near)).toEqual([422, `${name}x: is not a known field; did you mean \`${name}\`?`]);
		}
		expect(await faultsOf(await ask(operation, wholeQuery(id, "zzz=1")))).toEqual([
			422,
			expect.stringContaining("zzz: is not a known field"),
		]);
	});
});

describe("worker: whatever an Access Key is answered is its own, and says what is left of its calls", () => {
	it.each(READS.filter(({ credential }) => credential === "AccessKey").map((operation) => [operation.id, operation] as const))(
		"%s",
		async (_id, operation) => {
			for (const query of ["", "?zzz=1"]) {
				const { headers } = await ask(operation, query);
				expect([headers.get("vary"), headers.get("cache-control"), headers.get("ratelimit-policy")]).toEqual([
					"AccessKey",
					"no-store",
					'"publisher";q=600;w=60',
				]);
			}
			const refused = await exports.default.fetch(`https://base.example${operation.path}`);
			expect([refused.status, refused.headers.get("vary")]).toEqual([401, "AccessKey"]);
		},
	);
});

describe("worker: the time of a list", () => {
	const lists = READS.filter((operation) => ["from", "to"].every((name) => queryOf(operation).includes(name)))
		.filter(({ id }) => id !== "listCandidateClicks")
		.map((operation) => [operation.id, operation] as const);

	it.each(lists)("%s: none lies between a day and an earlier one", async (_id, operation) => {
		const response = await ask(operation, "?from=2026-11-20&to=2026-11-19");
		expect(await faultsOf(response)).toEqual([422, "to: must not be before from"]);
		expect((await ask(operation, "?from=2026-11-20&to=2026-11-20")).status).toBe(200);
	});

	it.each(lists)("%s: no year of an answer has more than four digits, or a sign", async (_id, operation) => {
		const asked = ["to=9999-12-31", "from=9999-12-31&to=9999-12-31", "to=0000-01-01", "from=0000-01-01&to=0000-01-01"];
		for (const query of asked) {
			const response = await ask(operation, `?${query}`);
			const text = await response.text();
			expect([query, response.status, text]).toEqual([query, 200, expect.not.stringMatching(/[+-]0\d{5}-/)]);
		}
	});

	const ofTimes = lists.filter(([id]) =>
		["readAudit", "listNetworkClicks", "listNetworkConversions", "readBids", "listCallbacks", "listClaims"].includes(id),
	);

	it.each(ofTimes)("%s: an operator's time needs no offset", async (_id, operation) => {
		expect((await ask(operation, "?from=2026-11-20T09:00&to=2026-11-20")).status).toBe(200);
	});
});
