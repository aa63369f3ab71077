/** What a person does with a page beside reading it. Plain markup that scripts make more convenient. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { newUuid } from "../../lib/ids.ts";

/** Of a form that is taken once: tells it from every other. */
export const FORM_FIELD = "form";

/**
 * A text to copy: a key that is shown once, a link. Selected as a whole where there is no button.
 * @param label what is copied, for those who hear the button: "the key"
 * @param block on a line of its own
 */
export function CopyText({ text, label, block = false }: { text: string; label: string; block?: boolean }): JSX.Element {
	return (
		<copy-text class={block ? "block" : undefined} data-label={label}>
			<code>{text}</code>
		</copy-text>
	);
}

/** For forms of pages that take each `once`. */
export function Once(): JSX.Element {
	return <input type="hidden" name={FORM_FIELD} value={newUuid()} />;
}

/**
 * A button that asks before it sends: what cannot be taken back.
 * @param label of the button: "Revoke"
 * @param question what will happen, and to what
 * @param send of the button that does it; as the label by default
 * @param fields hidden fields of the form
 * @param of what the button is about, for those who hear it among others: "key K-12"
 * @param once of a page that takes each form once
 * @param open unfolded already: it was sent, and came back with a fault
 * @param children further fields that the question needs, such as a reason
 */
export function Confirm(props: {
	action: string;
	label: string;
	question: Child;
	send?: string;
	fields?: Readonly<Record<string, string>>;
	of?: string;
	danger?: boolean;
	once?: boolean;
	open?: boolean;
	children?: Child;
}): JSX.Element {
	const { action, label, question, send = label, fields = {}, of, danger = false, once = false, open = false, children } = props;
	return (
		<confirm-action class={danger ? "danger" : undefined}>
			<details open={open}>
				<summary>
					{label}…{of === undefined ? null : <span class="unseen"> {of}</span>}
				</summary>
				<form method="post" action={action}>
					<p>{question}</p>
					{once ? <Once /> : null}
					{Object.entries(fields).map(([name, value]) => (
						<input type="hidden" name={name} value={value} />
					))}
					{children}
					<div class="buttons">
						<button type="submit" class={danger ? "danger" : undefined}>
							{send}
						</button>
					</div>
				</form>
			</details>
		</confirm-action>
	);
}

/** A form with one button, for what can be taken back or does no harm. */
export function Do(props: {
	action: string;
	label: string;
	fields?: Readonly<Record<string, string>>;
	of?: string;
	once?: boolean;
}): JSX.Element {
	const { action, label, fields = {}, of, once = false } = props;
	return (
		<form method="post" action={action}>
			{once ? <Once /> : null}
			{Object.entries(fields).map(([name, value]) => (
				<input type="hidden" name={name} value={value} />
			))}
			<button type="submit" class="quiet">
				{label}
				{of === undefined ? null : <span class="unseen"> {of}</span>}
			</button>
		</form>
	);
}
