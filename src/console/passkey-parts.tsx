import type { JSX } from "hono/jsx/jsx-runtime";
import { Confirm } from "./ui/actions.tsx";

export const PASSKEYS_PATH = "/console/passkeys";

/** The button that removes a passkey of one's own. */
export function RemovePasskey({ id, name }: { id: string; name: string }): JSX.Element {
	return (
		<Confirm
			action={`${PASSKEYS_PATH}/remove`}
			label="Remove"
			of={name}
			question={`${name} opens nothing here any more.`}
			fields={{ id }}
			danger
		/>
	);
}
