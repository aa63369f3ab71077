/** A publisher's callback address: changed as an entry of the network file is, with the difference before it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { countByOwners } from "../../audit/count-by-owners.ts";
import { invalidInput } from "../../http/errors.ts";
import { HttpError } from "../../lib/http.ts";
import { maskCallbackUrl } from "../../lib/mask-url.ts";
import { DAY_MS } from "../../lib/time.ts";
import { changeEntry, VERB_OF } from "../../operator/network/change-entry.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import { findEntry } from "../../operator/network/read-entries.ts";
import type { ConsoleDeps } from "../deps.ts";
import { formFaults } from "../form-faults.ts";
import { page, seeOther, view } from "../page.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Faults, Look, Notice } from "../ui/messages.tsx";
import { Facts } from "../ui/table.tsx";
import { found } from "./own-publisher.ts";

const SETTINGS = "/console/settings";
const PATH = `${SETTINGS}/callback-address`;
const FIELD = "callback_url";
const LABELS = { [FIELD]: "Address" };
const CHANGED: readonly Fault[] = [
	{ path: "", message: "Someone else has changed your account meanwhile. Look at the address as it is now, and send yours again." },
];
/** Every change raises the network's version and publishes the book, which operators' imports wait for. */
const MAX_CHANGES_A_DAY = 20;
const NEEDS = { publisher: "owner", fresh: true } as const;

export const SETTINGS_ADDRESS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: NEEDS,
		title: "Callback address",
		async handle({ deps, publisher }) {
			const { entry, etag } = found(await findEntry(deps.db, "publishers", publisher.id));
			return <AddressForm present={textOf(entry[FIELD])} etag={etag} typed={null} />;
		},
	}),
	page({
		method: "POST",
		path: PATH,
		needs: NEEDS,
		title: "Callback address",
		async handle({ deps, publisher, form, actor }) {
			const typed = (form.get(FIELD) ?? "").trim();
			const etag = form.get("etag") || null;
			const isSaid = form.get("yes") === "1";
			const options = { isDryRun: !isSaid, isConfirmed: true, isComplete: false, ifMatch: null, actor };
			const change = {
				section: "publishers",
				id: publisher.id,
				fields: { [FIELD]: typed === "" ? null : typed },
				etags: etag === null ? null : [etag],
			} as const;
			const present = found(await findEntry(deps.db, "publishers", publisher.id));
			const before = textOf(present.entry[FIELD]);
			try {
				if (isSaid) await requireCalm(deps, publisher.id);
				const report = await changeEntry(deps.imports, change, options);
				if (isSaid) return seeOther(`${SETTINGS}?done=address`);
				const etagSeen = etag ?? present.etag;
				return view({ mayReturn: true }, <Preview before={before} typed={typed} etag={etagSeen} report={report} />);
			} catch (error) {
				const isOther = error instanceof HttpError && error.status === 412;
				const faults = isOther ? CHANGED : formFaults(error);
				return view({ status: isOther ? 412 : 422 }, <AddressForm present={before} etag={present.etag} typed={typed} faults={faults} />);
			}
		},
	}),
];

/** @throws HttpError 422 where the publisher's people have changed its entry {@link MAX_CHANGES_A_DAY} times within a day */
async function requireCalm({ db, now }: ConsoleDeps, publisherId: string): Promise<void> {
	if ((await countByOwners(db, publisherId, VERB_OF.publishers, now() - DAY_MS)) < MAX_CHANGES_A_DAY) return;
	const message = `may be changed ${MAX_CHANGES_A_DAY} times within a day: wait, or ask your account manager`;
	throw invalidInput([{ path: FIELD, message }]);
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function AddressForm(props: { present: string; etag: string; typed: string | null; faults?: readonly Fault[] }): JSX.Element {
	const { present, etag, typed, faults = [] } = props;
	return (
		<form method="post" action={PATH} class="stack">
			<Faults title="The address was not changed" faults={faults} labels={LABELS} />
			<Facts facts={[["Now", present === "" ? "none" : <span class="address">{maskCallbackUrl(present)}</span>]]} />
			<Field
				name={FIELD}
				label={LABELS[FIELD]}
				value={typed}
				hint={
					<>
						Of your server, by https; it may have <a href="/docs/publishers/callbacks#macros">macros</a>. Left empty, you are told nothing.
					</>
				}
				faults={faults}
			/>
			<input type="hidden" name="etag" value={etag} />
			<div class="buttons">
				<button type="submit">See what changes</button>
			</div>
		</form>
	);
}

function Preview({ before, typed, etag, report }: { before: string; typed: string; etag: string; report: ImportReport }): JSX.Element {
	const { difference, warnings } = report;
	const isSame = difference.changed === 0;
	return (
		<Look title="What changes">
			{isSame ? <Notice>Nothing would change: this is your address already.</Notice> : null}
			<Facts
				facts={[
					["Before", before === "" ? "none" : <span class="address">{maskCallbackUrl(before)}</span>],
					["After", typed === "" ? "none: you are told of nothing" : <span class="address">{typed}</span>],
				]}
			/>
			{warnings.length === 0 ? null : (
				<Notice tone="waiting" title="Is this meant?">
					<ul>
						{warnings.map(({ message }) => (
							<li>{message}</li>
						))}
					</ul>
				</Notice>
			)}
			{isSame ? null : (
				<form method="post" action={PATH}>
					<input type="hidden" name={FIELD} value={typed} />
					<input type="hidden" name="etag" value={etag} />
					<input type="hidden" name="yes" value="1" />
					<div class="buttons">
						<button type="submit">Change the address</button>
					</div>
				</form>
			)}
			<p>
				<a href={PATH}>Another one</a>, or <a href={SETTINGS}>back to settings</a>
			</p>
		</Look>
	);
}
