import { describe, expect, it } from "vitest";
import { checkAlertSettings, checkVariables } from "../../src/variables.ts";

const LEAST = {
	RTB_URL: "http://rtb.example",
	CLICK_URL: "https://click.example",
	TRACKER_URL: "https://go.example",
	BASE_URL: "https://api.example",
	TOKEN_KEYS: "a".repeat(32),
};
const read = (variables: Record<string, string>) => checkVariables({ ...LEAST, ...variables });

describe("unit: configuration", () => {
	it("what is not set has its default", () => {
		expect(read({ OPERATOR_KEY: "" })).toEqual({
			...LEAST,
			TOKEN_KEYS: [LEAST.TOKEN_KEYS],
			TOKEN_VERSION: 1,
			SNAPSHOT_TTL_SECONDS: 15,
			BOOK_FORMAT: 1,
			BOOK_MEMORY_MIB: 44,
			CLICK_TTL_HOURS: 24,
			CLICK_RETENTION_DAYS: 400,
			ALLOW_INSECURE_CALLBACKS: false,
			OPERATOR_KEY: undefined,
		});
	});

	it("has addresses as browsers write them: they are compared with what these send", () => {
		const console = (CONSOLE_URL: string) => read({ CONSOLE_URL }).CONSOLE_URL;
		expect([console("https://Console.Example:443/"), console("http://localhost:8787")]).toEqual([
			"https://console.example",
			"http://localhost:8787",
		]);
	});

	it("names the network's database, or nothing", () => {
		expect(read({ NETWORK_DATABASE: "d1" }).NETWORK_DATABASE).toBe("d1");
		expect(() => read({ NETWORK_DATABASE: "mysql" })).toThrow("NETWORK_DATABASE must be d1 or postgres");
	});

	it("says what is wrong, never the value", () => {
		expect(() => read({ CLICK_RETENTION_DAYS: "5", CLICK_URL: "click.example/x", SNAPSHOT_TTL_SECONDS: "soon" })).toThrow(
			"Configuration: CLICK_URL must be an http(s) origin such as https://click.example; SNAPSHOT_TTL_SECONDS must be a number from 1 to 3600; CLICK_RETENTION_DAYS must be a number from 30 to 3650",
		);
	});

	it("takes a secret that alerts can be signed with, and no other", () => {
		const isTaken = (secret: string) => {
			try {
				return checkAlertSettings({ ALERT_URL: "https://hooks.example", ALERT_SECRET: `whsec_${secret}` }).ALERT_SECRET !== undefined;
			} catch {
				return false;
			}
		};
		const lengthOf = (secret: string) => {
			try {
				return atob(secret).length;
			} catch {
				return 0;
			}
		};
		const whole = [20, 23, 24, 25, 26, 32, 33, 34, 63, 64, 65, 66].map((bytes) => btoa("a".repeat(bytes)));
		const secrets = [...whole.flatMap((secret) => [secret, secret.slice(0, -1), secret.slice(0, -2), `${secret}=`]), `${"a_".repeat(16)}`];
		for (const secret of secrets) {
			const length = lengthOf(secret);
			expect([secret, isTaken(secret)]).toEqual([secret, length >= 24 && length <= 64]);
		}
		expect(secrets.filter(isTaken).length).toBeGreaterThan(8);
	});

	it("what is wrong with alerts is told of alone, never the value", () => {
		const wrong = { ALERT_URL: "hooks.example/x", ALERT_SECRET: "secret" };
		expect(read(wrong)).not.toHaveProperty("ALERT_URL");
		expect(() => checkAlertSettings(wrong)).toThrow(
			/^Configuration: ALERT_URL must be an http\(s\) address; ALERT_SECRET must be whsec_ and 24 to 64 bytes in base64$/,
		);
		expect(checkAlertSettings({ ALERT_URL: "", ALERT_SECRET: undefined })).toEqual({});
	});

	it.each([
		["RTB_URL", "https://bids.example/", "https://bids.example"],
		["CLICK_URL", "https://c.example", "https://c.example"],
		["TRACKER_URL", "https://t.example", "https://t.example"],
		["BASE_URL", "https://b.example", "https://b.example"],
		["SNAPSHOT_TTL_SECONDS", "30", 30],
		["CLICK_TTL_HOURS", "48", 48],
		["CLICK_RETENTION_DAYS", "60", 60],
		["ALLOW_INSECURE_CALLBACKS", "true", true],
		["TOKEN_KEYS", `${"b".repeat(32)}, ${"a".repeat(32)}`, ["b".repeat(32), "a".repeat(32)]],
		["OPERATOR_KEY", "operator-key-of-16", "operator-key-of-16"],
	] as const)("%s is taken from the environment", (name, text, value) => {
		expect(read({ [name]: text })[name]).toEqual(value);
	});
});
