import { showLine } from "./progress.ts";

const POLL_MS = 500;

/**
 * Asks again and again until the answer will do, and no longer than `maxMs` if it never does; shows on standard error that it waits.
 * Returns the last answer.
 * @param what what is waited for: "T-1001"
 */
export async function askUntil<Answer>(
	what: string,
	ask: () => Promise<Answer>,
	willDo: (answer: Answer) => boolean,
	maxMs: number,
): Promise<Answer> {
	const startedAt = Date.now();
	let answer = await ask();
	if (willDo(answer)) return answer;
	const bound = `${maxMs / 1_000} s`;
	const end = showLine(
		`Waiting for ${what}, up to ${bound} …`,
		() => `Waiting for ${what}: ${Math.floor((Date.now() - startedAt) / 1_000)} s of ${bound}`,
	);
	try {
		while (!willDo(answer) && Date.now() - startedAt < maxMs) {
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
			answer = await ask();
		}
	} finally {
		end();
	}
	return answer;
}
