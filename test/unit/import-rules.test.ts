/** The layout's import rules are lint errors: each case is a file that would break one, or that is allowed. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const biome = resolve("node_modules/.bin/biome");
const { vcs: _vcs, $schema: _schema, ...config } = JSON.parse(readFileSync("biome.json", "utf8"));

/** Lints one file, in a folder of its own, by the project's configuration. */
function lint(file: string, imported: string): { ok: boolean; broken: boolean } {
	const root = mkdtempSync(join(tmpdir(), "import-rules-"));
	try {
		mkdirSync(dirname(join(root, file)), { recursive: true });
		writeFileSync(join(root, "biome.json"), JSON.stringify(config));
		writeFileSync(join(root, file), `import { a } from "${imported}";\n\nexport const b = a;\n`);
		const { status, stdout, stderr } = spawnSync(biome, ["lint", file], { cwd: root, encoding: "utf8" });
		return { ok: status === 0, broken: (stdout + stderr).includes("noRestrictedImports") };
	} finally {
		rmSync(root, { recursive: true });
	}
}

describe("unit: import rules", () => {
	it.each([
		["src/lib/x.ts", "../openrtb/no-bid.ts"],
		["src/lib/x.ts", "hono"],
		["src/openrtb/x.ts", "../campaign-book/format.ts"],
		["src/click-token/x.ts", "../bidding/auction.ts"],
		["src/campaign-book/load.ts", "../db/client.ts"],
		["src/campaign-book/load.ts", "./publish.ts"],
		["src/campaign-book/publish.ts", "../operator/routes.ts"],
		["src/db/client.ts", "../campaign-book/format.ts"],
		["src/bidding/x.ts", "../db/client.ts"],
		["src/bidding/x.ts", "../db/schema/brands.ts"],
		["src/bidding/x.ts", "drizzle-orm"],
		["src/bidding/x.ts", "drizzle-orm/d1"],
		["src/bidding/x.ts", "../campaign-book/publish.ts"],
		["src/bidding/x.ts", "../operator/routes.ts"],
		["src/bidding/x.ts", "../edge.ts"],
		["src/operator/x.ts", "../bidding/auction.ts"],
		["src/operator/x.ts", "../worker.ts"],
		["src/edge.ts", "./campaign-book/publish.ts"],
		["src/edge.ts", "./db/client.ts"],
		["src/edge.ts", "./origin.ts"],
		["src/edge.ts", "./api-docs/routes.ts"],
		["src/reports/x.ts", "../api-docs/routes.ts"],
	])("%s must not import %s", (file, imported) => {
		expect(lint(file, imported)).toEqual({ ok: false, broken: true });
	});

	it.each([
		["src/lib/x.ts", "./host.ts"],
		["src/openrtb/x.ts", "../lib/host.ts"],
		["src/campaign-book/publish.ts", "../db/client.ts"],
		["src/bidding/x.ts", "../campaign-book/load.ts"],
		["src/bidding/x.ts", "../openrtb/no-bid.ts"],
		["src/operator/x.ts", "../db/client.ts"],
		["src/worker.ts", "./edge.ts"],
	])("%s may import %s", (file, imported) => {
		expect(lint(file, imported)).toEqual({ ok: true, broken: false });
	});
});
