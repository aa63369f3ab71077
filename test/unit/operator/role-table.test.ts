import { describe, expect, it } from "vitest";
import { operationTable } from "../../../src/operator/role-table.ts";

describe("unit: the operation of a request", () => {
	const { operationOf, methodsOf } = operationTable([
		{ method: "post", path: "/operator/callbacks/{id}", role: "finance" },
		{ method: "post", path: "/operator/callbacks/replay", role: "manager" },
		{ method: "get", path: "/operator/brands/{domain}", role: "viewer" },
		{
			method: "patch",
			path: "/operator/brands/{domain}",
			role: "manager",
			parameters: [
				{ in: "path", name: "domain" },
				{ in: "query", name: "dry_run" },
			],
		},
		{ method: "get", path: "/health" },
	]);

	it.each([
		["POST", "/operator/callbacks/replay", "manager"],
		["POST", "/operator/callbacks/other", "finance"],
		["GET", "/operator/brands/shoes.example", "viewer"],
		["HEAD", "/operator/brands/shoes.example", "viewer"],
		["PATCH", "/operator/brands/shoes.example", "manager"],
		["GET", "/operator/brands/", null],
		["GET", "/operator/brands/a/b", null],
		["GET", "/operator/brandsXshoes.example", null],
		["POST", "/x/operator/callbacks/replay", null],
		["POST", "/operator/callbacks/replay/", null],
		["DELETE", "/operator/brands/shoes.example", null],
		["GET", "/health", null],
	])("%s %s: %s", (method, path, role) => {
		expect(operationOf(method, path)?.role ?? null).toBe(role);
	});

	it.each([
		["/operator/callbacks/replay", "POST"],
		["/operator/brands/shoes.example", "GET, HEAD, PATCH"],
		["/operator/brands/", ""],
		["/health", ""],
	])("%s takes %s", (path, methods) => {
		expect(methodsOf(path)).toBe(methods);
	});

	it("knows what its query may hold", () => {
		expect(operationOf("PATCH", "/operator/brands/shoes.example")?.query).toEqual(["dry_run"]);
		expect(operationOf("GET", "/operator/brands/shoes.example")?.query).toEqual([]);
	});
});
