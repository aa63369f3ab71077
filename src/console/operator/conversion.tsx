/** One conversion: all that is known of it, and what a person may say of it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ConversionKey } from "../../conversions/conversion.ts";
import { mayAct } from "../../http/actor.ts";
import { givenOf, readInput } from "../../http/read-input.ts";
import { HttpError } from "../../lib/http.ts";
import type { Candidates, Judged } from "../../operator/conversions/conversions-answers.ts";
import { findCandidates } from "../../operator/conversions/find-clicks.ts";
import { attachByHand, JUDGING_VERBS, type JudgingVerb, judgeByHand } from "../../operator/conversions/judge-by-hand.ts";
import { attachSchema, clicksSchema, clickWanted, judgeSchema, releaseSchema } from "../../operator/conversions/judge-request.ts";
import { showConversionOf } from "../../operator/conversions/show-conversion.ts";
import { formFaults } from "../form-faults.ts";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { StaffStanding } from "../standing.tsx";
import { addressOf } from "../ui/address.ts";
import type { Fault } from "../ui/field.tsx";
import { Faults, Notice } from "../ui/messages.tsx";
import { Facts } from "../ui/table.tsx";
import { Code, inWords, Money } from "../ui/values.tsx";
import { CONVERSIONS_PATH, conversionAddress } from "./conversion-address.ts";
import { Attach, History, LABELS, type Refused, Standing, WORDS, Words } from "./conversion-parts.tsx";
import { givenIn, isPreview, Preview } from "./preview.tsx";

export const OPERATOR_CONVERSION_PAGES = [
	page({
		method: "GET",
		path: `${CONVERSIONS_PATH}/:platform/:txnid`,
		needs: { staff: "viewer" },
		title: "Conversion",
		async handle(request) {
			const { done, ...asked } = givenOf(request.query);
			const notice = done === undefined ? null : <Notice tone="good">This is how it stands now.</Notice>;
			if (Object.keys(asked).length === 0) return showConversion(request, { notice });
			try {
				const wanted = clickWanted(readInput(clicksSchema, asked));
				const candidates = await findCandidates(request.deps.db, keyOf(request), wanted);
				return showConversion(request, { notice, candidates, asked });
			} catch (error) {
				return showConversion(request, { asked, faults: formFaults(error), status: 422 });
			}
		},
	}),
	...JUDGING_VERBS.map((verb) =>
		page({
			method: "POST",
			path: `${CONVERSIONS_PATH}/:platform/:txnid/${verb}`,
			needs: { staff: "finance" },
			title: "Conversion",
			handle: (request) =>
				settle(request, verb, async (isDryRun) => {
					const { deps, actor, form } = request;
					const word =
						verb === "release"
							? readInput(releaseSchema, givenIn(form, ["text", "id", "up_to"]))
							: readInput(judgeSchema, givenIn(form, ["text", "id"]));
					return judgeByHand({ ...deps.adjusting, actor }, verb, keyOf(request), word, isDryRun);
				}),
		}),
	),
	page({
		method: "POST",
		path: `${CONVERSIONS_PATH}/:platform/:txnid/attach`,
		needs: { staff: "finance" },
		title: "Conversion",
		handle: (request) =>
			settle(request, "attach", async (isDryRun) => {
				const { deps, actor, form } = request;
				const word = readInput(attachSchema, givenIn(form, ["text", "id", "click"]));
				return attachByHand({ ...deps.adjusting, actor }, keyOf(request), word, isDryRun);
			}),
	}),
];

function keyOf({ param }: PersonRequest): ConversionKey {
	return { platform: param("platform"), txnid: param("txnid") };
}

/** Shows what a person's word comes to, or gives it. */
async function settle(request: PersonRequest, verb: JudgingVerb | "attach", run: (isDryRun: boolean) => Promise<Judged>): Promise<Shown> {
	const { form, now } = request;
	const address = conversionAddress(keyOf(request));
	try {
		// Read before what it comes to is: a release is of no more than was seen.
		const seen = verb === "release" && isPreview(form) ? await showConversionOf(request.deps.db, keyOf(request)) : null;
		const worth = seen?.conversion.gross_usd ?? null;
		if (worth !== null) form.set("up_to", worth);
		const judged = await run(isPreview(form));
		if (!isPreview(form)) return seeOther(addressOf(address, { done: verb }));
		const { conversion, callbacks } = judged;
		const key = keyOf(request);
		const fields = givenIn(form, ["text", "id", "click", "up_to"]);
		return view(
			{ title: `${WORDS[verb].label} conversion ${key.txnid}`, over: key.platform, mayReturn: true },
			<>
				<Preview action={`${address}/${verb}`} label={WORDS[verb].label} fields={fields} now={now} adjusted={judged}>
					<Facts
						facts={[
							[LABELS.text, fields.text],
							[LABELS.click, fields.click === undefined ? null : <Code>{fields.click}</Code>],
							["State then", <StaffStanding stage={conversion.stage} status={conversion.status} />],
							["Held for", inWords(conversion.why)],
							["Publisher", conversion.publisher],
							["Publisher's", <Money usd={conversion.publisher_revenue} />],
							[
								"Callbacks",
								callbacks.length === 0
									? "none"
									: callbacks.map(({ publisher, status, payout }) => `${publisher} is told ${status}, ${payout} USD`).join("; "),
							],
						]}
					/>
				</Preview>
				<p>
					<a href={address}>Leave it as it is</a>
				</p>
			</>,
		);
	} catch (error) {
		const refused = { verb, text: form.get("text") ?? "", faults: formFaults(error) };
		const click = verb === "attach" ? (form.get("click") ?? "") : "";
		const candidates = click === "" ? undefined : await findCandidates(request.deps.db, keyOf(request), { click });
		return showConversion(request, {
			refused,
			faults: refused.faults,
			status: 422,
			...(candidates !== undefined && { candidates, asked: { click } }),
		});
	}
}

type Around = {
	notice?: JSX.Element | null;
	refused?: Refused;
	candidates?: Candidates;
	/** What candidates were looked for by. */
	asked?: Record<string, string>;
	faults?: readonly Fault[];
	status?: number;
};

async function showConversion(
	request: PersonRequest,
	{ notice = null, refused, candidates, asked = {}, faults = [], status = 200 }: Around,
): Promise<Shown> {
	const key = keyOf(request);
	const maySettle = mayAct(request.person.role, "finance");
	const shown = await showConversionOf(request.deps.db, key);
	if (shown === null) throw new HttpError(404, { error: "Not found" });
	return view(
		{ status, title: `Conversion ${key.txnid}`, over: key.platform },
		<>
			{notice}
			<Faults
				title="Nothing was changed"
				faults={faults.map(({ path, message }) => ({ path: LABELS[path as keyof typeof LABELS] ?? path, message }))}
			/>
			<Standing shown={shown} />
			{maySettle ? <Words shown={shown} refused={refused} /> : null}
			{maySettle && shown.click === null ? (
				<Attach conversion={shown.conversion} candidates={candidates} asked={asked} refused={refused} />
			) : null}
			<History shown={shown} />
		</>,
	);
}
