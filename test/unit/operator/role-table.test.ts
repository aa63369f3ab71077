import { describe, expect, it } from "vitest";
import { roleTable } from "../../../src/operator/role-table.ts";

describe("unit: the role of a request", () => {
	const roleOf = roleTable([
		{ method: "post", path: "/operator/callbacks/{id}", role: "finance" },
		{ method: "post", path: "/operator/callbacks/replay", role: "manager" },
		{ method: "get", path: "/operator/brands/{domain}", role: "viewer" },
		{ method: "patch", path: "/operator/brands/{domain}", role: "manager" },
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
		expect(roleOf(method, path)).toBe(role);
	});
});
