import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { OPERATIONS, TAGS } from "../../../src/api-docs/operations/all.ts";
import { writeOpenApi } from "../../../src/api-docs/write-openapi.ts";

const hosts = { baseUrl: "https://api.example", rtbUrl: "http://rtb.example", clickUrl: "https://click.example" };
const description = writeOpenApi(OPERATIONS, TAGS, hosts);

describe("unit: OpenAPI description", () => {
	it("is valid OpenAPI 3.1", async () => {
		const result = await new Validator().validate(structuredClone(description));
		expect(result).toMatchObject({ valid: true });
	});

	it("every operation belongs to a tag that is described, and names its answers", () => {
		const tags = TAGS.map(({ name }) => name as string);
		for (const { id, tag, answers } of OPERATIONS) {
			expect(tags, id).toContain(tag);
			expect(Object.keys(answers).length, id).toBeGreaterThan(0);
		}
	});

	it("every parameter in a path is described, and only those", () => {
		for (const { id, path, parameters = [] } of OPERATIONS) {
			const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
			expect(
				parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name),
				id,
			).toEqual(inPath);
		}
	});

	it("real-time endpoints and the click tracker name their own hosts", () => {
		expect(description).toMatchObject({ paths: { "/click": { get: { servers: [{ url: hosts.clickUrl }] } } } });
		expect(description).toMatchObject({ paths: { "/serving-engine": { get: { servers: [{ url: hosts.rtbUrl }] } } } });
	});
});
