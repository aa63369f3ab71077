import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { addressOf } from "./ui/address.ts";

export const CONFIRM_PATH = "/console/confirm";

/**
 * In the place of a form that asks for a passkey or a link that was just used: what is typed into it first would be lost.
 * @param next where it stands
 * @param children what it is to do: "to invite someone"
 */
export function ConfirmFirst({ next, children }: { next: string; children: Child }): JSX.Element {
	return (
		<p>
			<a href={addressOf(CONFIRM_PATH, { next })}>Confirm that it is you</a> {children}.
		</p>
	);
}
