import type { Ora } from "ora";

/** Shows the progress of an upload on standard error: a bar on a terminal, otherwise a line now and then. */
export type Progress = {
	sent: (bytes: number) => void;
	/** Says more about how it goes. */
	note: (text: string) => void;
	end: () => void;
};

const SPARSE_MS = 10_000;
const REFRESH_MS = 100;
const BAR_WIDTH = 24;

/** @param totalBytes null where that is not known */
export function showProgress(what: string, totalBytes: number | null): Progress {
	const startedAt = Date.now();
	let sentBytes = 0;
	let note = "";
	const describe = (): string => {
		const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
		const part =
			totalBytes === null
				? `sent ${formatBytes(sentBytes)}`
				: sentBytes < totalBytes
					? `${drawBar(sentBytes / totalBytes)} sent ${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}`
					: `sent ${formatBytes(totalBytes)}, waiting for the answer`;
		return `${what}: ${part}${note === "" ? "" : `, ${note}`}, ${seconds} s`;
	};
	const end = showLine(totalBytes === null ? what : `${what}: ${formatBytes(totalBytes)}`, describe);
	return {
		sent(bytes) {
			sentBytes = bytes;
		},
		note(text) {
			note = text;
		},
		end,
	};
}

/**
 * Shows on standard error what is happening, until the function that it returns is called: one line that moves on a terminal; otherwise
 * the first line at once, and how it goes now and then.
 */
export function showLine(first: string, describe: () => string): () => void {
	// A terminal that says it has no columns would make the spinner count its lines forever.
	const isTerminal = process.stderr.isTTY && process.stderr.columns > 0;
	if (!isTerminal) {
		console.error(first);
		const timer = setInterval(() => console.error(describe()), SPARSE_MS);
		return () => clearInterval(timer);
	}
	const shown: { spinner: Ora | null; ended: boolean } = { spinner: null, ended: false };
	// Loaded once there is something to show: it takes as long as all else of a command.
	const loading = import("ora").then(({ default: ora }) => {
		if (!shown.ended) shown.spinner = ora({ text: describe(), discardStdin: false }).start();
	});
	loading.catch((error: unknown) => console.error(first, error));
	const timer = setInterval(() => {
		if (shown.spinner !== null) shown.spinner.text = describe();
	}, REFRESH_MS);
	return () => {
		clearInterval(timer);
		shown.ended = true;
		shown.spinner?.stop();
	};
}

function drawBar(part: number): string {
	const full = Math.floor(part * BAR_WIDTH);
	return `[${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)}] ${Math.floor(part * 100)} %`;
}

function formatBytes(bytes: number): string {
	if (bytes < 1_000) return `${bytes} B`;
	return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
