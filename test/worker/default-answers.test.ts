/**
 * The answers of publishers without options, byte for byte, to every request of the golden cases of before there were any:
 * test/fixtures/answers-without-options.txt. What is fresh in each answer is left out, but for its length; tokens have become
 * longer since, by eight characters at most: they say whether their clickid is the id of the user, and for which source the bid was asked;
 * and by seven more where the request names two addresses, which both are the device's.
 */
import { exports } from "cloudflare:workers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import recorded from "../fixtures/answers-without-options.txt?raw";
import { readCases } from "../support/golden/case.ts";
import { requestOf } from "../support/golden/run-case.ts";
import { DEFAULT_NOW, loadTestNetwork, setNow } from "../support/load-network.ts";

const cases = readCases(
	import.meta.glob<string>(["../fixtures/openrtb/*/*.json", "../fixtures/serving-engine/*.json"], {
		eager: true,
		query: "?raw",
		import: "default",
	}),
);

beforeAll(loadTestNetwork);
afterAll(() => {
	vi.useRealTimers();
});

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

async function answerOf(name: string): Promise<string> {
	const golden = cases.find(([other]) => other === name)?.[1];
	if (golden === undefined) return `${name}\tno such case`;
	setNow(golden.now ?? DEFAULT_NOW);
	const response = await exports.default.fetch(await requestOf(golden));
	const headers = [...response.headers].map(([header, value]) => `${header}: ${value}`).sort();
	const body = (await response.text()).replace(UUID, "<uuid>").replace(/encyp=([\w-]*)/g, (_, token: string) => `encyp=<${token.length}>`);
	return [name, response.status, headers.join(", "), JSON.stringify(body)].join("\t");
}

test("worker: publishers without options get the answers of before, byte for byte", async () => {
	const expected = recorded.trim().split("\n");
	expect(expected.length).toBeGreaterThan(250);
	const actual: string[] = [];
	for (const line of expected) actual.push(await answerOf(line.slice(0, line.indexOf("\t"))));
	expect(actual).toEqual(expected);
});
