/** What a person fills in, with what is asked, what is meant, and what was wrong. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { slugOf } from "./address.ts";

/** What is wrong, and where: a path such as `callback_url` or `brands[3].domain`; empty for the whole. */
export type Fault = { path: string; message: string };

export type Choice = { value: string; label: string; group?: string };

/** The id of the field with this name, which its faults lead to. @param of tells it from those of the page's other forms */
export function fieldId(name: string, of = ""): string {
	return `field-${slugOf(`${of} ${name}`)}`;
}

type Common = {
	label: string;
	name: string;
	value?: string | null | undefined;
	hint?: Child;
	/** Of the whole form: the field takes those of its name. */
	faults?: readonly Fault[] | undefined;
	/** The form that it is of, where another form of the page may have a field of this name: an id stands once on a page. */
	of?: string | undefined;
	required?: boolean;
	readonly?: boolean;
};

type Kind =
	| {
			kind?: "text" | "email" | "url" | "date" | "number" | "password";
			maxLength?: number;
			autocomplete?: string;
			list?: readonly string[];
	  }
	| { kind: "long"; rows?: number; maxLength?: number }
	| { kind: "choice"; choices: readonly Choice[] }
	| { kind: "check"; checked?: boolean }
	| { kind: "file"; accept?: string };

/** A label, its control, and what describes it. Texts are kept as they were typed. */
export function Field(props: Common & Kind): JSX.Element {
	const { label, name, hint, faults = [], required = false } = props;
	const id = fieldId(name, props.of);
	const own = faults.filter(({ path }) => path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`));
	const describedBy = [hint === undefined ? "" : `${id}-hint`, own.length === 0 ? "" : `${id}-fault`].filter(Boolean).join(" ");
	const shared = {
		id,
		name,
		required,
		...(describedBy !== "" && { "aria-describedby": describedBy }),
		...(own.length > 0 && { "aria-invalid": "true" }),
	};
	const isCheck = props.kind === "check";
	const labelled = (
		<label for={id}>
			{label}
			{required || isCheck || props.readonly ? null : <span class="optional"> (optional)</span>}
		</label>
	);
	return (
		<div class={`field${isCheck ? " check" : ""}${own.length > 0 ? " wrong" : ""}`}>
			{isCheck ? null : labelled}
			{hint === undefined || isCheck ? null : <Hint id={id}>{hint}</Hint>}
			{own.length === 0 ? null : (
				<p class="fault" id={`${id}-fault`}>
					{own.map(({ message }) => message).join("; ")}
				</p>
			)}
			<Control {...props} shared={shared} />
			{isCheck ? labelled : null}
			{hint === undefined || !isCheck ? null : <Hint id={id}>{hint}</Hint>}
		</div>
	);
}

function Hint({ id, children }: { id: string; children: Child }): JSX.Element {
	return (
		<p class="hint" id={`${id}-hint`}>
			{children}
		</p>
	);
}

function Control(props: Common & Kind & { shared: Record<string, unknown> & { id: string } }): JSX.Element {
	const { shared, readonly = false } = props;
	const value = props.value ?? "";
	switch (props.kind) {
		case "long":
			return (
				<textarea {...shared} rows={props.rows ?? 6} maxlength={props.maxLength} readonly={readonly} spellcheck={false}>
					{/* Browsers leave out the first end of a line. */}
					{value.startsWith("\n") ? `\n${value}` : value}
				</textarea>
			);
		case "choice":
			return (
				<select {...shared} disabled={readonly}>
					<Choices choices={props.choices} chosen={value} />
				</select>
			);
		case "check":
			return <input type="checkbox" {...shared} value={value || "true"} checked={props.checked ?? false} disabled={readonly} />;
		case "file":
			return <input type="file" {...shared} accept={props.accept} />;
		default:
			return (
				<>
					<input
						type={props.kind ?? "text"}
						{...shared}
						value={value}
						maxlength={props.maxLength}
						autocomplete={props.autocomplete ?? "off"}
						readonly={readonly}
						spellcheck={false}
						list={props.list === undefined ? undefined : `${shared.id}-list`}
					/>
					{props.list === undefined ? null : (
						<datalist id={`${shared.id}-list`}>
							{props.list.map((known) => (
								<option value={known} />
							))}
						</datalist>
					)}
				</>
			);
	}
}

/** Options of a select; those of a group stand together. A value that is none of them is kept, as it is. */
export function Choices({ choices, chosen }: { choices: readonly Choice[]; chosen: string }): JSX.Element {
	const groups = Map.groupBy(choices, ({ group }) => group ?? "");
	const isKnown = chosen === "" || choices.some(({ value }) => value === chosen);
	const option = ({ value, label }: Choice) => (
		<option value={value} selected={value === chosen}>
			{label}
		</option>
	);
	return (
		<>
			{[...groups].map(([group, members]) =>
				group === "" ? members.map(option) : <optgroup label={group}>{members.map(option)}</optgroup>,
			)}
			{isKnown ? null : option({ value: chosen, label: chosen })}
		</>
	);
}
