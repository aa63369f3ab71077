/** So many of something: "1 message", "2 messages". */
export function counted(count: number, one: string): string {
	return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** The same, where more than an "s" tells one from many: "1 sum differs", "2 sums differ". */
export function countedAs(count: number, one: string, many: string): string {
	return `${count} ${count === 1 ? one : many}`;
}
