/** The table of macros: what docs/postbacks.md shows, and what operators are given. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pickValues, splitFields } from "../../../src/conversions/read-fields.ts";
import { readPostback } from "../../../src/conversions/read-postback.ts";
import { isPlaceholder } from "../../../src/lib/placeholder.ts";
import { findNetwork, NETWORK_MACROS, networkOf } from "../../../src/operator/postback-problems/network-macros.ts";
import { KEY_PLACE, writePostbackUrl } from "../../../src/operator/postback-problems/postback-url.ts";

const DOCUMENT = readFileSync("docs/postbacks.md", "utf8");

describe("unit: macros of networks", () => {
	it.each(NETWORK_MACROS.map((network) => [network.name, network] as const))("%s is in the document, as it is here", (_, network) => {
		const { name, source, read, macros } = network;
		const linked = `[${name}](${source})`;
		const row = DOCUMENT.split("\n").find((line) => line.startsWith(read ? `| **${linked}** |` : `| ${linked} |`)) ?? "";
		expect([...row.matchAll(/`([^`]+)`/g)].map(([, macro]) => macro)).toEqual(Object.values(macros ?? {}));
	});

	it("are all told from values where nobody fills them in", () => {
		const macros = NETWORK_MACROS.flatMap((network) => Object.values(network.macros ?? {}));
		expect(macros.filter((macro) => !isPlaceholder(macro))).toEqual([]);
	});

	it.each([
		[{ id: "p1", name: "Awin UK" }, "awin"],
		[{ id: "impact-us", name: "P" }, "impact"],
		[{ id: "p2", name: "impact.com" }, "impact"],
		[{ id: "p3", name: "Impactful Offers" }, null],
	])("%j is of %s", (platform, id) => {
		expect(networkOf(platform)?.id ?? null).toBe(id);
	});

	it("an address says what is not known, and never shows a key", () => {
		const none = writePostbackUrl("https://base.example/", KEY_PLACE, null);
		expect(none.url).toBe(
			"https://base.example/api/postback/{access_key}?txnid=TRANSACTION_ID&cid=CLICK_ID&edate=DATE&payout=COMMISSION&sales=ORDER_VALUE&currency=CURRENCY&status=STATUS",
		);
		expect(none.unknown).toEqual(["txnid", "cid", "edate", "payout"]);
		const unfilled = readPostback(pickValues(splitFields(new URL(none.url).search.slice(1))), Date.now());
		expect(unfilled.errors).toEqual(Object.fromEntries(none.unknown.map((name) => [name, [`The ${name} field is required.`]])));
		expect(writePostbackUrl("https://base.example", KEY_PLACE, findNetwork("affise")).unknown).toEqual([]);
	});
});
