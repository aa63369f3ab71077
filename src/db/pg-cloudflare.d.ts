/** The package's own types are those of its empty build for other runtimes. */
declare module "pg-cloudflare" {
	import type { ClientConfig } from "pg";

	/** A socket of workerd behind the interface of Node's. */
	export const CloudflareSocket: new (ssl: boolean) => NonNullable<ReturnType<NonNullable<ClientConfig["stream"]>>>;
}
