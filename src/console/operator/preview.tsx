/** Changes of money are looked at before they are made: a form is sent once to see what it comes to, and once more to do it. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Adjusted } from "../../adjustments/adjustment-answer.ts";
import { newTimeOrderedId } from "../../lib/ids.ts";
import { Look } from "../ui/messages.tsx";
import { Figures } from "../ui/table.tsx";
import { Count, Money } from "../ui/values.tsx";

/** Fields of a form as its verb takes them: what is empty was not given. */
export function givenIn(form: URLSearchParams, names: readonly string[]): Record<string, string> {
	return Object.fromEntries(names.flatMap((name) => (form.get(name) ? [[name, (form.get(name) ?? "").trim()]] : [])));
}

/** Whether this is only to be looked at. */
export function isPreview(form: URLSearchParams): boolean {
	return form.get("step") !== "do";
}

/**
 * What a change comes to, and the button that makes it.
 * @param fields of the form, as they were sent
 * @param id under which it is made: sent twice, it is made once
 */
export function Preview(props: {
	action: string;
	label: string;
	fields: Readonly<Record<string, string>>;
	now: number;
	adjusted: Omit<Adjusted, "id" | "kind" | "dry_run">;
	children?: Child;
}): JSX.Element {
	const { action, label, fields, now, adjusted, children } = props;
	return (
		<Look title="What it comes to">
			<Changed adjusted={adjusted} />
			{adjusted.alike === null ? null : (
				<p class="note">
					The same amount was booked on that day already, by adjustment <code>{adjusted.alike}</code>.
				</p>
			)}
			{children}
			<form method="post" action={action}>
				{Object.entries({ ...fields, step: "do", id: fields.id ?? newTimeOrderedId(now) }).map(([name, value]) => (
					<input type="hidden" name={name} value={value} />
				))}
				<div class="buttons">
					<button type="submit">{label}</button>
				</div>
			</form>
		</Look>
	);
}

export function Changed({ adjusted }: { adjusted: Omit<Adjusted, "id" | "kind" | "dry_run"> }): JSX.Element {
	return (
		<Figures
			figures={[
				{ name: "Clicks", value: <Count of={adjusted.clicks} /> },
				{ name: "Conversions", value: <Count of={adjusted.conversions} /> },
				{ name: "Publishers' revenue", value: <Money usd={adjusted.publisher_revenue} /> },
				{ name: "Gross revenue", value: <Money usd={adjusted.gross_revenue} />, note: adjusted.complete ? undefined : "not all of it yet" },
			]}
		/>
	);
}
