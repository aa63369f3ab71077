/** What limits a publisher's calls, beside those of the interface. */
import { CALLING_LIMIT, PUBLISHER_LIMIT, PUBLISHER_SECONDS } from "../../http/limits.ts";
import type { Answer, Answers } from "../operation.ts";
import { errorSchema } from "./shapes.ts";

const HEADERS = {
	ratelimit: "The limit's name, calls that are left (`r`) as far as is known, and seconds until they are renewed (`t`).",
	"ratelimit-policy": "The limit's name, calls (`q`), and in how many seconds (`w`).",
};

/** @param calling whether it makes us call the publisher's address */
function tooManyCalls(calling: boolean): Answer {
	const most = calling ? CALLING_LIMIT : PUBLISHER_LIMIT;
	return {
		description: `Too many calls: a publisher may make ${most} in ${PUBLISHER_SECONDS} seconds${calling ? " that have its address called" : " of the endpoints that have this answer"}. Or too many unknown keys came from this address.`,
		headers: { "retry-after": "Seconds to wait.", ...HEADERS },
		content: { schema: errorSchema, example: { error: "Too many requests" } },
	};
}

/** Answers before the key is looked at. */
const NOT_COUNTED = ["405", "413"];
const OF_UNKNOWN_KEYS = Object.fromEntries(Object.entries(HEADERS).map(([name, text]) => [name, `${text} Absent for an unknown key.`]));

/** Answers of an operation that is limited, with the headers that tell of it. */
export function limited(answers: Answers, calling = false): Answers {
	const told = Object.entries(answers).map(([status, answer]: [string, Answer]) => {
		if (NOT_COUNTED.includes(status)) return [status, answer];
		return [status, { ...answer, headers: { ...answer.headers, ...(status === "401" ? OF_UNKNOWN_KEYS : HEADERS) } }];
	});
	return { ...Object.fromEntries(told), 429: tooManyCalls(calling) };
}
