/** A JSON text of exactly so many bytes. */
export function fixedAnswer(bytes: number): string {
	const empty = JSON.stringify({ pad: "" });
	return JSON.stringify({ pad: "x".repeat(Math.max(0, bytes - empty.length)) });
}
