import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { answerHttpError, invalidFields, invalidInput } from "../../../src/http/errors.ts";

describe("unit: the answers to requests at fault", () => {
	it("the operator's 422 lists its faults and says how many there are", () => {
		const faults = [{ path: "a", message: "is required" }];
		expect(invalidInput(faults)).toMatchObject({ status: 422, body: { error: "Validation failed", faults, fault_count: 1 } });
		expect(invalidInput(faults, 250).body).toEqual({ error: "Validation failed", faults, fault_count: 250 });
	});

	it("that of reports and searches says it by field", () => {
		const messages = { page: ["The page field must be at least 1."] };
		expect(invalidFields(messages)).toMatchObject({ status: 422, body: { error: "Validation failed", messages } });
	});

	it("a thrown HttpError is its answer; anything else goes on", async () => {
		const app = new Hono();
		app.onError(answerHttpError);
		app.get("/", () => {
			throw invalidInput([]);
		});
		const response = await app.request("/");
		expect({ status: response.status, body: await response.json() }).toEqual({
			status: 422,
			body: { error: "Validation failed", faults: [], fault_count: 0 },
		});
		expect(() => answerHttpError(new RangeError("ours"))).toThrow(RangeError);
	});
});
