import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Failure } from "../../../scripts/local/failure.ts";
import { demandWritable } from "../../../scripts/local/writable.ts";

it("unit: a folder that cannot be written to is named, with what to do", () => {
	const nowhere = join(import.meta.filename, "folder");
	expect(() => demandWritable([tmpdir(), nowhere])).toThrow(Failure);
	expect(() => demandWritable([nowhere])).toThrow(`${nowhere} cannot be written to (ENOTDIR)`);
});

it("unit: folders that may be written to, or are not there yet, are no fault", () => {
	expect(() => demandWritable([tmpdir(), join(tmpdir(), "not-there-yet")])).not.toThrow();
});
