/** What cloudflare:test of @cloudflare/vitest-plugin hands on, without the Worker under test. */
declare module "cloudflare:test-internal" {
	export const reset: typeof import("cloudflare:test").reset;
}
