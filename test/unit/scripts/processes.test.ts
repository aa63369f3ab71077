import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { writeInput } from "../../../scripts/local/processes.ts";

describe("unit: what a process is given to read", () => {
	it("is all read where it reads", async () => {
		const child = spawn(process.execPath, ["-e", "process.stdin.pipe(process.stdout)"]);
		let read = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			read += text;
		});
		writeInput(child, "a\n".repeat(100_000));
		await once(child, "close");
		expect(read).toBe("a\n".repeat(100_000));
	});

	it("is no fault where it has ended: its exit code says why", async () => {
		const child = spawn(process.execPath, ["-e", "process.exit(3)"]);
		writeInput(child, "a".repeat(1_000_000));
		expect(await once(child, "close")).toEqual([3, null]);
	});
});
