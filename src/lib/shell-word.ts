/** A text as one word of a shell, in commands that are told to be pasted: it may be whatever somebody has sent. */
export function shellWord(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
