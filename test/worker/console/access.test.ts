/** Staff that signs in by Cloudflare Access: by a token of this application, for an address of the staff's. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { toBase64Url } from "../../../src/lib/base64-url.ts";
import { utf8 } from "../../../src/lib/utf8.ts";
import worker from "../../../src/worker.ts";
import { cookieOf, get, issueLink, OWN } from "../../support/console.ts";

const AUD = "a".repeat(64);
const ISSUER = "https://example-team.cloudflareaccess.com";
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

let sign: (claims: object, header?: object) => Promise<string>;

beforeAll(async () => {
	const pair = (await crypto.subtle.generateKey({ ...RSA, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, true, [
		"sign",
		"verify",
	])) as CryptoKeyPair;
	const jwk = { ...((await crypto.subtle.exportKey("jwk", pair.publicKey)) as JsonWebKey), kid: "key-1" };
	// What Cloudflare serves at this address is not part of the simulator.
	vi.spyOn(globalThis, "fetch").mockImplementation(async (url) =>
		String(url) === `${ISSUER}/cdn-cgi/access/certs` ? Response.json({ keys: [jwk] }) : new Response(null, { status: 404 }),
	);
	sign = async (claims, header = {}) => {
		const text = [
			{ alg: "RS256", kid: "key-1", ...header },
			{ iss: ISSUER, aud: [AUD], exp: Date.now() / 1_000 + 60, email: "bo@example.com", ...claims },
		]
			.map((part) => toBase64Url(utf8(JSON.stringify(part))))
			.join(".");
		return `${text}.${toBase64Url(new Uint8Array(await crypto.subtle.sign(RSA, pair.privateKey, utf8(text))))}`;
	};
	await issueLink({ staff: "bo", role: "manager", email: "Bo@example.com" });
});

const withAccess = { ...env, ACCESS_TEAM: "example-team", ACCESS_AUD: AUD };

async function ask(method: "GET" | "POST", token: string | null, bindings: object = withAccess): Promise<Response> {
	const headers = { ...OWN, ...(token !== null && { "cf-access-jwt-assertion": token }) };
	const request = new Request(`${OWN.origin}/console/sign-in/access`, { method, headers, redirect: "manual" });
	return worker.fetch(request as never, bindings as never, createExecutionContext());
}

describe("worker: Cloudflare Access", () => {
	it("shows whom it knows, and signs them in by POST alone", async () => {
		const token = await sign({ email: "BO@Example.com" });
		const page = await ask("GET", token);
		expect([page.status, page.headers.get("set-cookie"), await page.text()]).toEqual([
			200,
			null,
			expect.stringContaining("<strong>bo</strong>"),
		]);
		const signedIn = await ask("POST", token);
		expect(signedIn.status).toBe(303);
		expect((await get("/console/operator", { cookie: cookieOf(signedIn) })).status).toBe(200);
		const row = await env.DB.prepare("SELECT method, fresh_at FROM console_sessions").first();
		expect(row).toEqual({ method: "access", fresh_at: null });
	});

	it.each([
		["no token", async () => null],
		["another application's token", () => sign({ aud: ["b".repeat(64)] })],
		["another team's token", () => sign({ iss: "https://evil.cloudflareaccess.com" })],
		["a token that has ended", () => sign({ exp: Date.now() / 1_000 - 60 })],
		["a token that nobody has signed", async () => `${(await sign({})).split(".").slice(0, 2).join(".")}.AAAA`],
		["a token that says it needs no signature", () => sign({}, { alg: "none" })],
		["nobody of the staff", () => sign({ email: "else@example.com" })],
		["no address, as of a service", () => sign({ email: undefined })],
		["what is no token", async () => "x.y"],
	])("refuses %s", async (_, token) => {
		for (const method of ["GET", "POST"] as const) {
			const response = await ask(method, await token());
			expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
		}
	});

	it("is off where it is not set up, whatever a request carries", async () => {
		for (const method of ["GET", "POST"] as const) expect((await ask(method, await sign({}), env)).status).toBe(404);
	});
});
