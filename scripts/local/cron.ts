import { errorCode } from "./failure.ts";

const MINUTE_MS = 60_000;
const CRON = "* * * * *";

/** Fires the Worker's cron once a minute, which `wrangler dev` does not do by itself. Returns what ends it. */
export function startCron(origin: string): () => void {
	const fire = async (): Promise<void> => {
		try {
			const response = await fetch(`${origin}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(CRON)}`, {
				signal: AbortSignal.timeout(MINUTE_MS / 2),
			});
			await response.body?.cancel();
			if (!response.ok) console.error(`The scheduled work failed: HTTP ${response.status}`);
		} catch (error) {
			console.error(`The scheduled work could not be started: ${errorCode(error) ?? String(error)}`);
		}
	};
	const timer = setInterval(() => void fire(), MINUTE_MS);
	return () => clearInterval(timer);
}
