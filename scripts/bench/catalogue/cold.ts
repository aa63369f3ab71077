/** The first bid of a cold isolate. */
import { ACME } from "../../demo/well-known.ts";
import type { Bench } from "../part.ts";
import { openRtbTarget } from "../requests.ts";
import { readStats, startCountedEdges } from "./edge.ts";
import { domainOf, generateBrand } from "./generate.ts";

const BRAND = 4_321;

/** The KV reads of one bid in a fresh isolate, for a brand's domain, its alias and a host below it: the most of them. */
export async function countColdReads(bench: Bench): Promise<{ operations: number; keys: number }> {
	const most = { operations: 0, keys: 0 };
	for (const domain of [domainOf(BRAND), aliasOf(BRAND), `www.shop.${domainOf(BRAND)}`]) {
		await using runtime = await startCountedEdges(bench, ["large"]);
		const origin = await runtime.origin("large");
		const { path, body = null } = openRtbTarget(ACME.publisher_identity, domain, 1);
		const response = await fetch(`${origin}${path}`, { method: "POST", body, headers: { "content-type": "application/json" } });
		await response.arrayBuffer();
		const { gets, keysRead } = (await readStats(origin)).beforeFirst;
		bench.say(`cold isolate, ${domain}: HTTP ${response.status} after ${gets} KV reads (${keysRead} keys)`);
		if (response.status !== 200) throw new Error(`the first bid on ${domain} was HTTP ${response.status}`);
		most.operations = Math.max(most.operations, gets);
		most.keys = Math.max(most.keys, keysRead);
	}
	return most;
}

/** The alias of the brand, or of the next one that has one. */
function aliasOf(number: number): string {
	return generateBrand(number).aliases[0] ?? aliasOf(number + 1);
}
