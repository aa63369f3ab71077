import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { DESCRIBED } from "../../../src/api-docs/operations/all.ts";
import { writeOpenApi } from "../../../src/api-docs/write-openapi.ts";

const hosts = { baseUrl: "https://api.example", rtbUrl: "http://rtb.example", clickUrl: "https://click.example" };
const { operations, webhooks, tags } = DESCRIBED;
const description = writeOpenApi(DESCRIBED, hosts);

describe("unit: OpenAPI description", () => {
	it("is valid OpenAPI 3.1", async () => {
		const result = await new Validator().validate(structuredClone(description));
		expect(result).toMatchObject({ valid: true });
	});

	it("every operation belongs to a tag that is described, and names its answers", () => {
		const names = tags.map(({ name }) => name);
		for (const { id, tag, answers } of [...operations, ...webhooks]) {
			expect(names, id).toContain(tag);
			expect(Object.keys(answers).length, id).toBeGreaterThan(0);
		}
	});

	it("every parameter in a path is described, and only those", () => {
		for (const { id, path, parameters = [] } of operations) {
			const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
			expect(
				parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name),
				id,
			).toEqual(inPath);
		}
	});

	it("the publisher's callback is a webhook, with its five parameters and no credential", () => {
		const [callback] = webhooks;
		const query = callback?.parameters?.filter((parameter) => parameter.in === "query").map(({ name }) => name);
		expect(query).toEqual(["txnid", "cid", "payout", "status", "edate"]);
		expect(description).toMatchObject({ webhooks: { conversion: { get: { operationId: callback?.id } } } });
		expect(description).not.toHaveProperty("webhooks.conversion.get.security");
	});

	it("real-time endpoints and the click tracker name their own hosts", () => {
		expect(description).toMatchObject({ paths: { "/click": { get: { servers: [{ url: hosts.clickUrl }] } } } });
		expect(description).toMatchObject({ paths: { "/serving-engine": { get: { servers: [{ url: hosts.rtbUrl }] } } } });
	});
});
