import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Secrets of the Worker under test; the second token key is an older one of the ring. */
const TOKEN_KEYS = "test-token-key-newest-0000000000000000,test-token-key-older-00000000000000000";
const OPERATOR_KEY = "test-operator-key-000000";

/**
 * Two projects: `unit` runs pure code in plain Node; `worker` runs in workerd, with real KV and D1, what needs the runtime
 * (src/lib/bytes.ts among it: Node 24 has no Uint8Array.prototype.toBase64). Storage is isolated by test file.
 */
export default defineConfig({
	test: {
		projects: [
			{
				test: { name: "unit", environment: "node", include: ["test/unit/**/*.test.ts"] },
			},
			{
				plugins: [
					cloudflareTest(async () => ({
						main: "./src/worker.ts",
						wrangler: { configPath: "./wrangler.toml" },
						miniflare: {
							bindings: {
								TOKEN_KEYS,
								OPERATOR_KEY,
								NETWORK_MIGRATIONS: await readD1Migrations("drizzle/network"),
								PRODUCTS_MIGRATIONS: await readD1Migrations("drizzle/products"),
							},
						},
					})),
				],
				test: { name: "worker", include: ["test/worker/**/*.test.ts"], setupFiles: ["./test/support/apply-migrations.ts"] },
			},
		],
	},
});
