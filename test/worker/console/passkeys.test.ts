/** Passkeys, by a device that signs as real ones do. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { removePasskey, usePasskey } from "../../../src/console/session/passkeys.ts";
import { findPersonByName } from "../../../src/console/session/people.ts";
import { beginSession } from "../../../src/console/session/sessions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { SecretBox } from "../../../src/lib/secret-box.ts";
import { ACTOR } from "../../support/actor.ts";
import { Authenticator } from "../../support/authenticator.ts";
import { cookieOf, get, OWN, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, importFile } from "../../support/network-import.ts";

const NOW = Date.parse("2026-11-18T15:00:00Z");
const db = openDatabase(env.DB);
const deps = { db, now: () => Date.now(), consoleUrl: OWN.origin, box: new SecretBox(env.TOKEN_KEYS.split(",")) };
const UNVERIFIED = { isVerified: false };
const LATER = new Date(NOW + 11 * 60_000).toISOString();

beforeAll(async () => {
	setNow(new Date(NOW).toISOString());
	await importFile({ publishers: [ACME] });
});

function send(path: string, visitor: Visitor | undefined, body: unknown = {}): Promise<Response> {
	return exports.default.fetch(`http://localhost:8787${path}`, {
		method: "POST",
		headers: { ...OWN, "content-type": "application/json", ...(visitor !== undefined && { cookie: visitor.cookie }) },
		body: typeof body === "string" ? body : JSON.stringify(body),
	});
}

async function ask(path: string, visitor?: Visitor): Promise<{ challenge: string }> {
	const response = await send(`${path}/question`, visitor);
	expect(response.status).toBe(200);
	return response.json();
}

async function register(visitor: Visitor, device: Authenticator): Promise<void> {
	const response = await send("/console/passkeys", visitor, {
		name: "laptop <1>",
		response: await device.register(await ask("/console/passkeys", visitor)),
	});
	expect([response.status, await response.json()]).toEqual([200, { location: "/console/passkeys?added=1" }]);
}

describe("worker: passkeys", () => {
	it("one is made, signs in, confirms, and is removed; each answer counts once", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Ada" });
		const device = await Authenticator.open();
		await register(visitor, device);
		expect((await shown(get("/console/passkeys", visitor))).text).toContain("laptop &lt;1&gt;");

		const colleague = await signIn({ publisher: "acme", name: "Ann", role: "analyst" });
		const owner = await signIn({ publisher: "acme", name: "Olga" });
		const inSettings = async (who: Visitor) => {
			const { text } = await shown(get("/console/settings", who));
			return [text.includes("laptop &lt;1&gt;"), text.includes('action="/console/passkeys/remove"')];
		};
		expect([await inSettings(visitor), await inSettings(owner), await inSettings(colleague)]).toEqual([
			[true, true],
			[true, false],
			[false, false],
		]);

		const answer = { response: await device.use(await ask("/console/sign-in/passkey")) };
		const signedIn = await send("/console/sign-in/passkey?next=/console/clicks", undefined, answer);
		expect([signedIn.status, await signedIn.json()]).toEqual([200, { location: "/console/clicks" }]);
		expect((await send("/console/sign-in/passkey", undefined, answer)).status).toBe(422);
		const byPasskey = { cookie: cookieOf(signedIn) };
		expect((await shown(get("/console/earnings", byPasskey))).status).toBe(200);

		const elsewhere = await send("/console/sign-in/passkey", undefined, {
			response: await device.use(await ask("/console/sign-in/passkey")),
		});
		const byPasskeyElsewhere = { cookie: cookieOf(elsewhere) };
		expect((await shown(get("/console/earnings", byPasskeyElsewhere))).status).toBe(200);

		setNow(LATER);
		expect((await post("/console/passkeys/remove", byPasskey, { id: "x" })).status).toBe(403);
		const confirmed = await send("/console/confirm?next=/console/passkeys", byPasskey, {
			response: await device.use(await ask("/console/confirm", byPasskey)),
		});
		expect([confirmed.status, await confirmed.json()]).toEqual([200, { location: "/console/passkeys" }]);
		const { text } = await shown(get("/console/passkeys", byPasskey));
		const [, id = ""] = /name="id" value="([^"]+)"/.exec(text) ?? [];
		expect((await post("/console/passkeys/remove", byPasskey, { id })).status).toBe(303);
		expect((await post("/console/passkeys/remove", byPasskey, { id })).status).toBe(404);
		// Whoever has the lost device is signed out; who removes it, and who came by a link, is not.
		const stillIn = [byPasskey, byPasskeyElsewhere, visitor].map(async (who) => (await get("/console/earnings", who)).status);
		expect(await Promise.all(stillIn)).toEqual([200, 303, 200]);
		expect(
			(await send("/console/sign-in/passkey", undefined, { response: await device.use(await ask("/console/sign-in/passkey")) })).status,
		).toBe(422);
		const verbs = await env.DB.prepare("SELECT verb FROM audit WHERE subject_kind = 'person' ORDER BY id").all<{ verb: string }>();
		expect(verbs.results.map(({ verb }) => verb)).toEqual(expect.arrayContaining(["addPasskey", "removePasskey"]));
		setNow(new Date(NOW).toISOString());
	});

	it("what is not ours, of another host, too late or of another person is refused, and changes nothing", async () => {
		const [ada, bo] = [await signIn({ publisher: "acme", name: "Cy" }), await signIn({ staff: "bo", role: "viewer" })];
		const [device, other] = [await Authenticator.open(), await Authenticator.open()];
		await register(ada, device);
		await register(bo, other);
		const refused: [string, Visitor | undefined, object | string][] = [
			["/console/passkeys", ada, { response: await (await Authenticator.open()).register({ challenge: "AAAA" }) }],
			["/console/passkeys", ada, { response: await (await Authenticator.open()).register(await ask("/console/passkeys", bo)) }],
			["/console/passkeys", ada, { response: await (await Authenticator.open()).register(await ask("/console/sign-in/passkey")) }],
			["/console/passkeys", bo, { response: await device.register(await ask("/console/passkeys", bo)) }],
			[
				"/console/sign-in/passkey",
				undefined,
				{ response: await device.use(await ask("/console/sign-in/passkey"), { origin: "https://evil.example" }) },
			],
			[
				"/console/sign-in/passkey",
				undefined,
				{ response: await device.use(await ask("/console/sign-in/passkey"), { host: "evil.example" }) },
			],
			["/console/sign-in/passkey", undefined, { response: await device.use(await ask("/console/confirm", ada)) }],
			// Of a device that has not asked who holds it.
			[
				"/console/passkeys",
				ada,
				{ response: await (await Authenticator.open()).register(await ask("/console/passkeys", ada), UNVERIFIED) },
			],
			["/console/sign-in/passkey", undefined, { response: await device.use(await ask("/console/sign-in/passkey"), UNVERIFIED) }],
			["/console/confirm", ada, { response: await device.use(await ask("/console/confirm", ada), UNVERIFIED) }],
			["/console/confirm", ada, { response: await other.use(await ask("/console/confirm", ada)) }],
			...["", "null", "[]", "{", '{"response":{}}', '{"response":{"id":1}}', "\u0000"].flatMap((body): typeof refused => [
				["/console/sign-in/passkey", undefined, body],
				["/console/passkeys", ada, body],
			]),
		];
		const before = await env.DB.prepare("SELECT count(*) AS n FROM console_passkeys").first("n");
		for (const [path, visitor, body] of refused) {
			const response = await send(path, visitor, body);
			expect([path, response.status, response.headers.get("set-cookie")]).toEqual([path, 422, null]);
		}
		const question = await ask("/console/sign-in/passkey");
		setNow(LATER);
		expect((await send("/console/sign-in/passkey", undefined, { response: await device.use(question) })).status).toBe(422);
		setNow(new Date(NOW).toISOString());
		await env.DB.prepare("UPDATE console_people SET disabled_at = 1 WHERE name = 'Cy'").run();
		expect(
			(await send("/console/sign-in/passkey", undefined, { response: await device.use(await ask("/console/sign-in/passkey")) })).status,
		).toBe(422);
		expect(await env.DB.prepare("SELECT count(*) AS n FROM console_passkeys").first("n")).toBe(before);
	});

	it.each([
		["a copy of it was used", "UPDATE console_passkeys SET counter = 9 WHERE person_id = ?"],
		["it was removed", "DELETE FROM console_passkeys WHERE person_id = ?"],
	])("one is refused where %s while it was looked at", async (name, meanwhile) => {
		const visitor = await signIn({ publisher: "acme", name });
		const device = await Authenticator.open();
		await register(visitor, device);
		const person = await findPersonByName(db, "acme", name);
		const answer = (await device.use(await ask("/console/sign-in/passkey"))) as Parameters<typeof usePasskey>[2];
		const slow = { ...deps, box: { open: (...sealed: Parameters<SecretBox["open"]>) => after(meanwhile, sealed) } as SecretBox };
		const after = async (statement: string, sealed: Parameters<SecretBox["open"]>) => {
			await env.DB.prepare(statement)
				.bind(person?.id ?? "")
				.run();
			return deps.box.open(...sealed);
		};
		await expect(usePasskey(slow, null, answer)).rejects.toMatchObject({ status: 422 });
	});

	it("one that is removed once it was accepted opens nothing any more", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Di" });
		const device = await Authenticator.open();
		await register(visitor, device);
		const answer = (await device.use(await ask("/console/sign-in/passkey"))) as Parameters<typeof usePasskey>[2];
		const { person, isKept } = await usePasskey(deps, null, answer);
		const beginning = { person, method: "passkey", requestId: "r" } as const;
		expect(await beginSession(deps, beginning, isKept)).not.toBeNull();
		await removePasskey(deps, ACTOR, person, answer.id);
		expect(await beginSession(deps, beginning, isKept)).toBeNull();
	});

	it("asking for a question writes nothing, and none may be asked for from another site", async () => {
		const rows = () => env.DB.prepare("SELECT count(*) AS n FROM console_challenges").first("n");
		const before = await rows();
		await ask("/console/sign-in/passkey");
		expect(await rows()).toBe(before);
		const foreign = await exports.default.fetch("http://localhost:8787/console/sign-in/passkey/question", {
			method: "POST",
			headers: { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
		});
		expect(foreign.status).toBe(403);
	});
});
