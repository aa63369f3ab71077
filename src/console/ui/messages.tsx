/** What a page says of itself: that there is nothing, that something was done, what was wrong. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Fault, fieldId } from "./field.tsx";

/** In the place of an empty list: why there is nothing, and what to do. */
export function Empty({ title, children }: { title: string; children?: Child }): JSX.Element {
	return (
		<div class="empty">
			<p class="title">{title}</p>
			{children}
		</div>
	);
}

/** Of what is to be read first on a page that a form has led to. */
const FOCUSED = { tabindex: -1, autofocus: true } as const;

const NOTICE_WORDS = { good: "Done", waiting: "Note", bad: "Problem", plain: "Note" } as const;

/**
 * What a person should know before the rest of the page. What is good tells of what was just done: the browser puts the focus there.
 * @param title its first words; by default a word for its tone, so that colour does not say it alone
 * @param isState it is no answer to what the person did, but how things stand
 */
export function Notice(props: { tone?: keyof typeof NOTICE_WORDS; title?: string; isState?: boolean; children?: Child }): JSX.Element {
	const { tone = "plain", title = NOTICE_WORDS[tone], isState = tone !== "good", children } = props;
	return (
		<div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"} {...(!isState && FOCUSED)}>
			<strong>{title}</strong> {children}
		</div>
	);
}

/**
 * What was wrong with what was sent, each leading to its field; nothing without faults. The browser puts the focus here.
 * @param title what has not happened, such as "The address was not saved"
 * @param labels of the form's fields by their name; a fault of no such field is named by its path
 * @param of the form, where its fields are told from those of others by it
 */
export function Faults(props: {
	title: string;
	faults: readonly Fault[];
	labels?: Readonly<Record<string, string>>;
	of?: string;
}): JSX.Element | null {
	const { title, faults, labels = {}, of } = props;
	if (faults.length === 0) return null;
	return (
		<div class="notice bad" role="alert" {...FOCUSED}>
			<strong>{title}</strong>
			<ul>
				{faults.map(({ path, message }) => {
					const name = path.split(/[.[]/)[0] ?? "";
					const label = labels[path] ?? labels[name];
					if (label === undefined) return <li>{path === "" ? message : `${path}: ${message}`}</li>;
					return (
						<li>
							<a href={`#${fieldId(labels[path] === undefined ? name : path, of)}`}>{label}</a>: {message}
						</li>
					);
				})}
			</ul>
		</div>
	);
}

/**
 * What a form comes to, with the button that does it. The browser puts the focus here.
 * @param faults of that button's form, which have the focus instead
 */
export function Look({ title, faults = [], children }: { title: string; faults?: readonly Fault[]; children?: Child }): JSX.Element {
	return (
		<section class="preview" aria-labelledby="look" {...(faults.length === 0 && FOCUSED)}>
			<h2 id="look">{title}</h2>
			{children}
		</section>
	);
}
