/** Looks at what changes the network, and takes it over: a file, or the undo of an import. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import { sha256 } from "../../lib/bytes.ts";
import { HttpError } from "../../lib/http.ts";
import { utf8 } from "../../lib/utf8.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import { type ImportOptions, importNetwork } from "../../operator/network/import-network.ts";
import { formFaults } from "../form-faults.ts";
import { type PersonRequest, type Shown, seeOther, view } from "../page.ts";
import { CopyText } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Faults, Look, Notice } from "../ui/messages.tsx";
import { Facts } from "../ui/table.tsx";
import { inWords } from "../ui/values.tsx";
import { Difference, NEEDS_A_YES } from "./difference.tsx";

export const IMPORTS_PATH = "/console/operator/imports";
export const NEW_IMPORT_PATH = `${IMPORTS_PATH}/new`;
/** Of a form; it is held in memory as it came, and as its parts. */
export const MAX_BYTES = 16 * 1024 * 1024;
/** A preview hands a network of this many bytes back for the button that takes it over. A larger file is chosen again there. */
const MAX_HANDED_BACK_BYTES = 2 * 1024 * 1024;
const LABELS = { network: "Network file", file: "Or a file", yes: "Yes" };

/** A form with a file in it comes in parts. */
export async function answerImport(request: PersonRequest): Promise<Shown> {
	const { deps, c, body } = request;
	const { sent, network } = await readParts(body, c.req.header("content-type") ?? "");
	const isComplete = sent("complete") === "true";
	const isHandedBack = network.size <= MAX_HANDED_BACK_BYTES;
	const text = isHandedBack ? await network.text() : "";
	const seen = sent("sha256");
	const hash = isHandedBack ? "" : await hashOf(network);
	const importIt = async (options: ImportOptions) => {
		if (!options.isDryRun && seen !== hash) throw invalidInput([{ path: "file", message: "is not the one that was looked at" }]);
		return importNetwork(deps.imports, network.stream(), { ...options, isComplete });
	};
	try {
		return await answerChange(request, sent, importIt, {
			action: NEW_IMPORT_PATH,
			label: "Take it over",
			further: (
				<>
					{isHandedBack ? (
						<textarea name="network" hidden readonly>
							{text}
						</textarea>
					) : (
						<>
							<input type="hidden" name="sha256" value={hash} />
							<Field
								kind="file"
								name="file"
								label="The same file again"
								hint="It is too large to be kept meanwhile: another one is refused"
								accept="application/json,.json"
								required
							/>
						</>
					)}
					{isComplete ? <input type="hidden" name="complete" value="true" /> : null}
				</>
			),
		});
	} catch (error) {
		return view({ status: 422 }, <ImportForm text={text} isComplete={isComplete} faults={formFaults(error)} />);
	}
}

/** SHA-256, lower-case hex. */
async function hashOf(file: Blob): Promise<string> {
	return (await sha256(new Uint8Array(await file.arrayBuffer()))).toHex();
}

type Parts = { sent: (name: string) => string; network: Blob };

/** The fields of a form of parts, and the network: a text, or else a file. @throws HttpError 422 */
async function readParts(body: Uint8Array<ArrayBuffer>, type: string): Promise<Parts> {
	let parts: FormData;
	try {
		parts = await new Response(body, { headers: { "content-type": type } }).formData();
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		throw invalidInput([{ path: "", message: "The form has come incomplete: open its page again" }]);
	}
	const sent = (name: string) => {
		const part = parts.get(name);
		return typeof part === "string" ? part : "";
	};
	const text = sent("network");
	const file = parts.get("file");
	return { sent, network: text.trim() === "" && file instanceof File ? file : new Blob([utf8(text)]) };
}

type Way = { action: string; label: string; further: JSX.Element | null };

/** Looks at it, or does it where the form says so, as of the version that was looked at. */
export async function answerChange(
	request: PersonRequest,
	sent: (name: string) => string,
	change: (options: ImportOptions) => Promise<ImportReport>,
	way: Way,
): Promise<Shown> {
	const isDone = sent("step") === "do";
	const version = /^\d{1,15}$/.test(sent("version")) ? Number(sent("version")) : null;
	const options = { isComplete: false, isConfirmed: sent("yes") === "true", actor: request.actor };
	const look = async (status: number, faults: readonly Fault[]) => {
		const report = await change({ ...options, isDryRun: true, ifMatch: null });
		return view({ status, mayReturn: true }, <Preview way={way} report={report} faults={faults} />);
	};
	if (!isDone) return look(200, []);
	// A form that lost its version would overwrite what nobody has seen.
	if (version === null) return look(422, [{ path: "", message: "The form has come incomplete: look at it, and send it again" }]);
	try {
		const report = await change({ ...options, isDryRun: false, ifMatch: version });
		if (report.issued.length > 0) return <Issued report={report} />;
		const done = report.book.version === null ? "late" : "1";
		return seeOther(report.id === null ? IMPORTS_PATH : addressOf(`${IMPORTS_PATH}/${report.id}`, { done }));
	} catch (error) {
		if (!(error instanceof HttpError)) throw error;
		if (error.status === 409) return look(422, [{ path: "yes", message: "is to be said first" }]);
		if (error.status === 412)
			return look(412, [{ path: "", message: "Someone has changed the network meanwhile: look at it, and send it again" }]);
		throw error;
	}
}

export function ImportForm({ text, isComplete, faults }: { text: string; isComplete: boolean; faults: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={NEW_IMPORT_PATH} enctype="multipart/form-data" class="stack">
			<Faults title="Nothing was changed" faults={faults} labels={LABELS} />
			<p>
				What the file names is added or changed, what it leaves out stays as it is. Up to {MAX_BYTES / 1024 / 1024} MiB; larger ones come in
				by <code>npm run operator -- import FILE</code>.
			</p>
			<Field kind="long" name="network" label={LABELS.network} hint="JSON, as /network.schema.json describes it" value={text} rows={12} />
			<Field kind="file" name="file" label={LABELS.file} accept="application/json,.json" />
			<Field kind="check" name="complete" label="Remove campaigns that a brand of the file does not name" checked={isComplete} />
			<div class="buttons">
				<button type="submit">Show what changes</button>
			</div>
		</form>
	);
}

function Preview({ way, report, faults }: { way: Way; report: ImportReport; faults: readonly Fault[] }): JSX.Element {
	const { difference, needs_confirmation, version } = report;
	const isEmpty = difference.added + difference.changed + difference.removed === 0;
	const asksYes = needs_confirmation || faults.some(({ path }) => path === "yes");
	return (
		<Look title="What changes" faults={faults}>
			<Faults title="Nothing was changed" faults={faults} labels={LABELS} />
			<Difference report={report} />
			{isEmpty ? null : (
				<form method="post" action={way.action} class="stack" {...(way.further !== null && { enctype: "multipart/form-data" })}>
					<input type="hidden" name="step" value="do" />
					<input type="hidden" name="version" value={String(version)} />
					{way.further}
					{asksYes ? (
						<Field kind="check" name="yes" label={`Yes, although it ${NEEDS_A_YES}, or overwrites what came later`} faults={faults} />
					) : null}
					<div class="buttons">
						<button type="submit">{way.label}</button>
					</div>
				</form>
			)}
			<p>
				<a href={IMPORTS_PATH}>Back to the imports</a>
			</p>
		</Look>
	);
}

/** The only time that keys are seen. */
function Issued({ report: { issued } }: { report: ImportReport }): JSX.Element {
	return (
		<>
			<Notice tone="good" title="It is taken over.">
				Keys that were made for what is new are shown here, and never again.
			</Notice>
			<Facts
				facts={issued.map(({ owner, kind, value }) => [
					`${inWords(kind)} of ${owner}`,
					<CopyText text={value} label={`the ${inWords(kind)} of ${owner}`} />,
				])}
			/>
			<p>
				<a href={IMPORTS_PATH}>To the imports</a>
			</p>
		</>
	);
}
