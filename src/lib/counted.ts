/** So many of something: "1 message", "2 messages". */
export function counted(count: number, one: string): string {
	return `${count} ${one}${count === 1 ? "" : "s"}`;
}
