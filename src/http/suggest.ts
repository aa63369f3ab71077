/** Names the known name that an unknown one was likely meant to be. */
import { closestMatch } from "leven";

/** Comparing takes time by the length; no name of ours is as long. */
const MAX_COMPARED_LENGTH = 64;

/**
 * Which of the known names was meant, as the end of a sentence; nothing for a name longer than any of them. One that is known elsewhere
 * is not suggested for itself.
 */
export function suggest(name: string, known: readonly string[]): string {
	if (name.length > MAX_COMPARED_LENGTH) return "";
	const nearest = closestMatch(
		name.toLowerCase(),
		known.filter((other) => other !== name),
	);
	return nearest === undefined ? "" : `; did you mean \`${nearest}\`?`;
}
