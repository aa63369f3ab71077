/** What to look with for what a message of the server says is not there. */
const LISTED_BY: readonly [message: RegExp, command: string][] = [
	[/^(?:is no|there is no|There is no such) publisher/, "list publishers"],
	[/^(?:is no|There is no such) platform/, "list platforms"],
	[/^(?:is no|There is no such) brand/, "list brands"],
	[/^(?:is no|there is no|There is no such) campaign/, "list campaigns"],
	[/^(?:is no|There is no such) import/, "imports"],
	[/^is no adjustment/, "adjust list"],
	[/^(?:is no transaction|There is no such conversion)/, "conversions list"],
	[/^There is no such claim/, "claims list"],
	[/^There is no such person/, "people list"],
	[/^(?:There is no such (?:session|passkey)|They have none)/, "people show"],
];

/** A line for each command that lists what messages say is not there. */
export function sayWhatLists(messages: readonly string[]): string[] {
	return LISTED_BY.filter(([missing]) => messages.some((message) => missing.test(message))).map(
		([, command]) => `\`${command}\` shows those there are.`,
	);
}
