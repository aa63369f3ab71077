/** Provisioning against a stand-in for the account: no test can have a real one. Its answers have the shape of wrangler's. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { migrateBoundPostgres } from "../../../scripts/provision/migrate-bound.ts";
import { describePlan, type Made, type ProvisionOptions, provision } from "../../../scripts/provision/provision.ts";
import { readLocalUrls, readNames, writeConfig } from "../../../scripts/provision/write-config.ts";

const TOML = readFileSync("wrangler.toml", "utf8");
const ONE: ProvisionOptions = { split: false, variables: {}, given: {} };
const KNOWN_KEY = "known-to-the-operator".padEnd(32, "-");
const SPLIT: ProvisionOptions = { ...ONE, split: true };

class Account {
	toml = TOML;
	readonly databases: { uuid: string; name: string }[] = [];
	readonly namespaces: { id: string; title: string }[] = [];
	readonly queues: string[] = [];
	readonly secrets = new Map<string, Record<string, string>>();
	readonly commands: string[] = [];
	readonly said: string[] = [];
	readonly shown: Made[] = [];
	/** A command that fails once. */
	failing: string | undefined;
	failure = "A request to the Cloudflare API failed.";
	loggedIn = true;
	unreachable = false;

	provision(options: ProvisionOptions) {
		return provision(
			{
				run: async (arguments_, input) => this.#run(arguments_, input),
				say: (text) => void this.said.push(text),
				readConfig: async () => this.toml,
				writeConfig: async (toml) => {
					this.toml = toml;
				},
				showSecrets: (made) => void this.shown.push(made),
			},
			options,
		);
	}

	/** Commands that change something. */
	get changes(): string[] {
		return this.commands.filter((command) => /create|bulk/.test(command));
	}

	#run(arguments_: readonly string[], input = ""): { code: number; output: string } {
		const command = arguments_.join(" ");
		this.commands.push(command);
		if (this.failing !== undefined && command.startsWith(this.failing)) {
			this.failing = undefined;
			return { code: 1, output: this.failure };
		}
		const [first, second, third, fourth = ""] = arguments_;
		if (this.unreachable) return { code: 1, output: "A fetch request failed, likely due to a connectivity issue.\n\nfetch failed" };
		if (first === "whoami") return { code: this.loggedIn ? 0 : 1, output: "{}" };
		if (first === "d1" && second === "list") return { code: 0, output: JSON.stringify(this.databases, null, 2) };
		if (first === "d1" && second === "create") this.databases.push({ uuid: `uuid-of-${third}`, name: third ?? "" });
		if (first === "kv" && third === "list") return { code: 0, output: `Resource location: remote\n${JSON.stringify(this.namespaces)}` };
		if (first === "kv" && third === "create") this.namespaces.push({ id: `id-of-${fourth}`, title: fourth });
		if (first === "queues" && second === "info")
			return this.queues.includes(third ?? "") ? { code: 0, output: third ?? "" } : { code: 1, output: `Queue "${third}" does not exist.` };
		if (first === "queues" && second === "create") this.queues.push(third ?? "");
		if (first === "secret" && second === "list") {
			const secrets = this.secrets.get(fourth);
			if (secrets === undefined) return { code: 1, output: `Worker "${fourth}" not found. [code: 10007]` };
			return { code: 0, output: JSON.stringify(Object.keys(secrets).map((name) => ({ name, type: "secret_text" }))) };
		}
		if (first === "secret" && second === "bulk") this.secrets.set(fourth, { ...this.secrets.get(fourth), ...JSON.parse(input) });
		return { code: 0, output: "" };
	}
}

describe("unit: provisioning", () => {
	it("a first run creates everything and writes the ids in every environment", async () => {
		const account = new Account();
		const made = await account.provision(SPLIT);
		expect(account.databases.map(({ name }) => name)).toEqual(["clickbourse", "clickbourse-products"]);
		expect(account.queues).toHaveLength(6);
		expect(account.queues).toContain("clickbourse-clicks-dead");
		expect(account.toml.match(/database_id = "uuid-of-clickbourse"/g)).toHaveLength(2);
		expect(account.toml.match(/database_id = "uuid-of-clickbourse-products"/g)).toHaveLength(2);
		expect(account.toml.match(/id = "id-of-clickbourse-book"/g)).toHaveLength(3);
		expect(account.toml).not.toContain("00000000-0000");
		expect(Object.keys(made)).toEqual(["TOKEN_KEYS", "OPERATOR_KEY"]);
	});

	it("edge and origin get the same token keys, and only the origin the operator's key", async () => {
		const account = new Account();
		const made = await account.provision(SPLIT);
		expect(account.secrets.get("clickbourse-edge")).toEqual({ TOKEN_KEYS: made.TOKEN_KEYS });
		expect(account.secrets.get("clickbourse-origin")).toEqual(made);
		expect(made.TOKEN_KEYS?.length).toBeGreaterThanOrEqual(32);
	});

	it("no secret stands in a command or in what is said", async () => {
		const account = new Account();
		const made = await account.provision(ONE);
		for (const secret of Object.values(made)) expect(`${account.commands.join()}${account.said.join()}`).not.toContain(secret);
	});

	it("secrets are shown before any is set, so that a run that breaks off there loses none", async () => {
		const account = new Account();
		account.failing = "secret bulk --name clickbourse-origin";
		await expect(account.provision(SPLIT)).rejects.toThrow("run this again");
		const TOKEN_KEYS = account.shown[0]?.TOKEN_KEYS;
		expect(account.secrets.get("clickbourse-edge")).toEqual({ TOKEN_KEYS });
		const made = await account.provision({ ...SPLIT, given: { TOKEN_KEYS } });
		expect(account.secrets.get("clickbourse-origin")).toEqual({ TOKEN_KEYS, OPERATOR_KEY: made.OPERATOR_KEY });
		expect(account.shown.slice(1)).toEqual([made]);
	});

	it.each([
		["TOKEN_KEYS", "too-short"],
		["OPERATOR_KEY", "too-short"],
	])("a %s that no Worker could run with is refused before anything is done", async (name, value) => {
		const account = new Account();
		await expect(account.provision({ ...ONE, given: { [name]: value } })).rejects.toThrow(name);
		expect(account.commands).toEqual([]);
	});

	it("a secret that is set to nothing is not given, and blanks around one are not of it", async () => {
		const account = new Account();
		const made = await account.provision({ ...ONE, given: { TOKEN_KEYS: "", OPERATOR_KEY: " 0123456789abcdef\n" } });
		expect(Object.keys(made)).toEqual(["TOKEN_KEYS"]);
		expect(account.secrets.get("clickbourse")).toEqual({ ...made, OPERATOR_KEY: "0123456789abcdef" });
	});

	it("every queue keeps messages for the fourteen days that the platform allows, those that were there before too", async () => {
		const account = new Account();
		account.queues.push("clickbourse-clicks");
		await account.provision(ONE);
		const set = account.commands.filter((command) => command.endsWith("--message-retention-period-secs 1209600"));
		expect(set.filter((command) => command.startsWith("queues create"))).toHaveLength(5);
		expect(set.filter((command) => command.startsWith("queues update"))).toEqual([
			"queues update clickbourse-clicks --message-retention-period-secs 1209600",
		]);
	});

	it("new databases are asked to be where the operator says; without a word, where D1 puts them", async () => {
		const [placed, free] = [new Account(), new Account()];
		await placed.provision({ ...ONE, location: "weur" });
		await free.provision(ONE);
		const creates = ({ commands }: Account) => commands.filter((command) => command.startsWith("d1 create"));
		expect(creates(placed)).toEqual(["d1 create clickbourse --location weur", "d1 create clickbourse-products --location weur"]);
		expect(creates(free)).toEqual(["d1 create clickbourse", "d1 create clickbourse-products"]);
		expect(describePlan(TOML, { ...ONE, location: "weur" }).join("\n")).toContain("wrangler d1 create clickbourse --location weur");
	});

	it("a second run finds everything and changes nothing", async () => {
		const account = new Account();
		await account.provision(ONE);
		const { toml } = account;
		account.commands.splice(0);
		expect(await account.provision(ONE)).toEqual({});
		expect(account.changes).toEqual([]);
		expect(account.toml).toBe(toml);
	});

	it.each([
		"d1 create clickbourse-products",
		"kv namespace create",
		"queues create clickbourse-callbacks",
		"d1 migrations apply",
		"secret bulk",
	])("a run that broke off at `%s` is completed by the next, with nothing created twice", async (failing) => {
		const account = new Account();
		account.failing = failing;
		await expect(account.provision(ONE)).rejects.toThrow("run this again");
		await account.provision(ONE);
		expect(new Set(account.databases.map(({ name }) => name)).size).toBe(account.databases.length);
		expect(account.namespaces).toHaveLength(1);
		expect(new Set(account.queues).size).toBe(6);
		expect(Object.keys(account.secrets.get("clickbourse") ?? {})).toEqual(["TOKEN_KEYS", "OPERATOR_KEY"]);
	});

	it("token keys that only one of two Workers has are not replaced: the operator is asked for them", async () => {
		const account = new Account();
		account.secrets.set("clickbourse-edge", { TOKEN_KEYS: KNOWN_KEY });
		await expect(account.provision(SPLIT)).rejects.toThrow("Set TOKEN_KEYS in the environment");
		await account.provision({ ...SPLIT, given: { TOKEN_KEYS: KNOWN_KEY } });
		expect(account.secrets.get("clickbourse-origin")?.TOKEN_KEYS).toBe(KNOWN_KEY);
	});

	it.each([
		["one Worker, where two are deployed", SPLIT, ONE, /for clickbourse-edge and clickbourse-origin\..* with --split/],
		["two Workers, where one is deployed", ONE, SPLIT, /for clickbourse\..* without --split/],
	])("%s: no other token keys are made, and whoever means it gives those that are in use", async (_, deployed, asked, message) => {
		const account = new Account();
		const { TOKEN_KEYS } = await account.provision(deployed);
		const before = new Map(account.secrets);
		await expect(account.provision(asked)).rejects.toThrow(message);
		expect(account.secrets).toEqual(before);
		expect(account.shown).toHaveLength(1);
		await account.provision({ ...asked, given: { TOKEN_KEYS } });
		for (const secrets of account.secrets.values()) expect(secrets.TOKEN_KEYS).toBe(TOKEN_KEYS);
	});

	it("a Worker whose secrets could not be listed is given none: it may have some", async () => {
		const account = new Account();
		await account.provision(ONE);
		const before = account.secrets.get("clickbourse");
		account.failing = "secret list";
		account.failure = "Received a malformed response from the API\nGET /accounts/1/workers/scripts/clickbourse/secrets -> 404 Not Found";
		await expect(account.provision(ONE)).rejects.toThrow("run this again");
		expect(account.secrets.get("clickbourse")).toBe(before);
	});

	it("who is not logged in is told how, and nothing is asked of the account", async () => {
		const account = new Account();
		account.loggedIn = false;
		await expect(account.provision(ONE)).rejects.toThrow("wrangler login");
		expect(account.commands).toEqual(["whoami --json"]);
	});

	it("where Cloudflare cannot be reached, that is said, and not that nobody is logged in", async () => {
		const account = new Account();
		account.unreachable = true;
		await expect(account.provision(ONE)).rejects.toThrow(/fetch failed(?![\s\S]*Not logged in)/);
	});

	it("where D1 was left for PostgreSQL, and is bound no more, only products are migrated on it", async () => {
		const account = new Account();
		account.toml = TOML.replaceAll(/^\[\[(?:env\.origin\.)?d1_databases\]\]\nbinding = "DB"\n(?:\w.*\n)+/gm, "");
		await account.provision(ONE);
		expect(account.databases.map(({ name }) => name)).toEqual(["clickbourse-products"]);
		expect(account.commands.filter((command) => command.includes("migrations"))).toEqual(["d1 migrations apply PRODUCTS --remote --env "]);
		expect(describePlan(account.toml, ONE).join("\n")).not.toContain("migrate DB");
	});

	it("the plan names every resource that wrangler.toml binds", () => {
		const plan = describePlan(TOML, SPLIT).join("\n");
		const { databases, queues } = readNames(TOML);
		for (const name of [...databases, ...queues]) expect(plan).toContain(name);
		expect(plan).toContain("clickbourse-edge");
	});
});

describe("unit: PostgreSQL that wrangler.toml binds", () => {
	it.each(["hyperdrive", "env.origin.hyperdrive"])(
		"as [[%s]], without its URL, ends the run, so that nothing is deployed on it",
		async (table) => {
			const bound = `${TOML}\n[[${table}]]\nbinding = "POSTGRES"\n`;
			for (const url of [undefined, ""]) await expect(migrateBoundPostgres(bound, url, () => {})).rejects.toThrow("set DATABASE_URL");
		},
	);

	it("is not asked for where none is bound", async () => {
		const said: string[] = [];
		await migrateBoundPostgres(TOML, undefined, (text) => void said.push(text));
		expect(said).toEqual([]);
	});
});

describe("unit: wrangler.toml", () => {
	it("only values change: comments, order and all other lines stay", () => {
		const databases = new Map(readNames(TOML).databases.map((name) => [name, `uuid-of-${name}`]));
		const written = writeConfig(TOML, { databases, book: "kv-id", variables: { CLICK_URL: "https://click.example" } });
		const before = TOML.split("\n");
		const changed = written.split("\n").filter((line, at) => line !== before[at]);
		expect(written.split("\n")).toHaveLength(before.length);
		expect(new Set(changed.map((line) => line.split("=")[0]?.trim()))).toEqual(new Set(["database_id", "id", "CLICK_URL"]));
		expect(written.match(/CLICK_URL = "https:\/\/click\.example"/g)).toHaveLength(3);
	});

	it("values in single quotes, and keys in quotes, are read and written as others are", async () => {
		const single = TOML.replaceAll(/^(\w+) = "(.*)"$/gm, "'$1' = '$2'");
		expect(readNames(single)).toEqual(readNames(TOML));
		expect(readLocalUrls(single)).toEqual(["RTB_URL", "CLICK_URL", "TRACKER_URL", "BASE_URL"]);
		const account = new Account();
		account.toml = single;
		await account.provision({ ...SPLIT, variables: { CLICK_URL: "https://click.example" } });
		expect(account.databases.map(({ name }) => name)).toEqual(["clickbourse", "clickbourse-products"]);
		expect(account.toml).not.toMatch(/00000000-0000|0{31}1/);
		expect(account.toml.match(/^'CLICK_URL' = "https:\/\/click\.example"$/gm)).toHaveLength(3);
	});

	it("names in tables within a line are read too", () => {
		const inline = `name = "clickbourse"\nenv = { edge = { name = 'edge' }, origin = { name = "origin" } }\n
			d1_databases = [{ binding = "DB", database_name = 'inline', database_id = "" }]`;
		expect(readNames(inline)).toMatchObject({ databases: ["inline"], migrated: ["DB"], workers: { edge: "edge", origin: "origin" } });
	});

	it.each([
		[
			"an id",
			TOML.replace(/^\[\[d1_databases\]\]\nbinding = "DB"\n(?:\w.*\n)+/m, "")
				.replace("[build]", 'd1_databases = [{ binding = "DB", database_name = "clickbourse", database_id = "0" }]\n[build]')
				.replace(/^\[\[d1_databases\]\]\nbinding = "PRODUCTS"\n(?:\w.*\n)+/m, ""),
			"database_id",
		],
		[
			"the book",
			TOML.replace('[[kv_namespaces]]\nbinding = "BOOK"\nid = "00000000000000000000000000000001"', "").replace(
				"[build]",
				'kv_namespaces = [{ binding = "BOOK", id = "0" }]\n[build]',
			),
			"BOOK",
		],
		["a variable", TOML.replace(/^CLICK_URL = .*$/m, 'CLICK_URL = """http://localhost:8787"""'), "CLICK_URL"],
		["a variable that is nowhere", TOML.replaceAll(/^CLICK_URL = .*$/gm, ""), "CLICK_URL"],
	])("%s that could not be written is a fault that says where, not a success", (_, toml, named) => {
		const databases = new Map(["clickbourse", "clickbourse-products"].map((name) => [name, `uuid-of-${name}`]));
		const variables = { CLICK_URL: "https://click.example" };
		expect(() => writeConfig(toml, { databases, book: "kv-id", variables })).toThrow(named);
	});

	it("that is no TOML is told as that", () => {
		expect(() => readNames(`${TOML}\nname = "`)).toThrow("wrangler.toml");
	});

	it("a database that was not provisioned is a fault, not an id of nothing", () => {
		expect(() => writeConfig(TOML, { databases: new Map(), book: "x", variables: {} })).toThrow("clickbourse");
	});
});
