/** A platform's postback secret: written, and never read back. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { changeEntry } from "../../operator/network/change-entry.ts";
import { ConfirmFirst } from "../confirm-first.tsx";
import { formFaults } from "../form-faults.ts";
import { page, seeOther, view } from "../page.ts";
import { Confirm } from "../ui/actions.tsx";
import { type Fault, Field } from "../ui/field.tsx";
import { Faults } from "../ui/messages.tsx";
import { requireEntry } from "./change-entry-pages.tsx";
import { networkPath } from "./network-lists.tsx";

const FIELD = "postback_secret";
const LABELS = { [FIELD]: "Postback secret" };

export const POSTBACK_SECRET_PAGES = [
	page({
		method: "POST",
		path: `${networkPath("platforms")}/:id/secret`,
		needs: { staff: "admin", fresh: true },
		title: "Postback secret",
		isSecret: true,
		async handle(request) {
			const { deps, form, actor, param } = request;
			const id = param("id");
			await requireEntry(request, "platforms", id);
			const typed = (form.get(FIELD) ?? "").trim();
			const isRemoved = form.get("remove") === "1";
			const etag = form.get("etag");
			const again = (faults: readonly Fault[]) =>
				view({ status: 422 }, <SecretForm id={id} faults={faults} {...(etag !== null && { etag })} />);
			// A form that lost the secret removes none.
			if (typed === "" && !isRemoved) return again([{ path: FIELD, message: "must not be blank" }]);
			const change = {
				section: "platforms",
				id,
				fields: { [FIELD]: isRemoved ? null : typed },
				etags: etag === null ? null : [etag],
			} as const;
			try {
				await changeEntry(deps.imports, change, { isDryRun: false, isConfirmed: true, isComplete: false, ifMatch: null, actor });
			} catch (error) {
				return again(formFaults(error));
			}
			return seeOther(`${networkPath("platforms", id)}?changed=1`);
		},
	}),
];

function SecretForm({ id, etag, faults }: { id: string; etag?: string; faults: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={`${networkPath("platforms", id)}/secret`} class="stack">
			<Faults title="Nothing was changed" faults={faults} labels={LABELS} />
			{etag === undefined ? null : <input type="hidden" name="etag" value={etag} />}
			<Field
				kind="password"
				name={FIELD}
				label={LABELS[FIELD]}
				hint="By which the platform signs its postbacks, at least 16 characters. It takes the place of the present one at once, and is never shown."
				faults={faults}
				required
			/>
			<div class="buttons">
				<button type="submit">Set it</button>
			</div>
		</form>
	);
}

/** On a platform's page. @param props.etag of the entry as it was read @param props.isFresh whether it may be set at once */
export function PostbackSecret({ id, etag, isFresh }: { id: string; etag: string; isFresh: boolean }): JSX.Element {
	if (!isFresh) return <ConfirmFirst next={networkPath("platforms", id)}>to set or remove its postback secret</ConfirmFirst>;
	return (
		<>
			<details>
				<summary>Set its postback secret…</summary>
				<SecretForm id={id} etag={etag} faults={[]} />
			</details>
			<Confirm
				action={`${networkPath("platforms", id)}/secret`}
				label="Remove its postback secret"
				question="Its postbacks are then taken without a signature, by their key alone."
				fields={{ etag, remove: "1" }}
				danger
			/>
		</>
	);
}
