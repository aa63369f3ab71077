/** The network that the soak test runs on: the example file, with known keys and a callback address. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../local/failure.ts";
import { ROOT } from "../local/paths.ts";
import type { Stack } from "../stack/start-stack.ts";

export const ACCESS_KEY = "soak-access-key";
export const PLATFORM_KEY = "soak-platform-key";
export const IDENTITY = "kitchen_notes";
export const DOMAIN = "kettles.example";
/** The publisher's part, as the file has it. */
export const SHARE = 0.75;

type Entry = Record<string, unknown>;

export async function importNetwork(stack: Stack, callbackUrl: string): Promise<void> {
	const file = JSON.parse(readFileSync(join(ROOT, "scripts", "examples", "network.json"), "utf8"));
	const response = await fetch(`${stack.origin}/operator/network`, {
		method: "POST",
		headers: { OperatorKey: stack.operatorKey },
		body: JSON.stringify({
			...file,
			platforms: file.platforms.map((platform: Entry) => ({ ...platform, access_key: PLATFORM_KEY })),
			publishers: file.publishers.map((publisher: Entry) => ({ ...publisher, access_key: ACCESS_KEY, callback_url: callbackUrl })),
			brands: file.brands.map((brand: Entry & { campaigns: Entry[] }) => ({
				...brand,
				// Only faults may hold up the soak.
				campaigns: brand.campaigns.map((campaign) => ({
					...campaign,
					daily_click_cap: null,
					daily_budget: null,
					total_budget: null,
					allowed_hours: null,
				})),
			})),
		}),
	});
	if (!response.ok) throw new Failure(`The network was refused: HTTP ${response.status} ${await response.text()}`);
	await response.body?.cancel();
}
