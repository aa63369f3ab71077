import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { fixOf } from "../../../src/operator/postback-problems/fix.ts";

/** The words that a shell makes of a command. */
function wordsOf(command: string | null): string[] {
	return execFileSync("sh", ["-c", `printf '%s\\0' ${command}`], { encoding: "utf8" })
		.split("\0")
		.slice(0, -1);
}

describe("unit: commands that mend problems with postbacks", () => {
	it("stand as they are where nothing in them means something to a shell", () => {
		const { command } = fixOf({ cause: "misnamed", field: "txnid", sent: "order_id" }, { platform: "northwind", network: null });
		expect(command).toBe("npm run operator -- postback-problems replay northwind --map txnid=order_id");
	});

	it("say of an amount that a raised ceiling lets go of nothing that is held", () => {
		const { text } = fixOf({ cause: "amount", field: null, sent: null }, { platform: "northwind", network: null });
		expect(text).toContain("A raised max_payout holds for what comes from then on");
	});

	it.each([
		["order id", "north wind"],
		["order$(id)", 'it\'s $& "north"'],
		["order;id>x", "`north`"],
	])("give a parameter %j and a platform %j as they are", (sent, platform) => {
		const { command } = fixOf({ cause: "misnamed", field: "txnid", sent }, { platform, network: null });
		expect(wordsOf(command).slice(4)).toEqual(["postback-problems", "replay", platform, "--map", `txnid=${sent}`]);
	});
});
