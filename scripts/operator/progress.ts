import ora from "ora";

/** Shows how an upload goes on standard error: a spinner on a terminal, otherwise a line now and then. */
export type Progress = { sent: (bytes: number) => void; end: () => void };

const SPARSE_MS = 10_000;
const REFRESH_MS = 100;

export function showProgress(what: string, totalBytes: number): Progress {
	const startedAt = Date.now();
	let sentBytes = 0;
	const describe = (): string => {
		const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
		const part =
			sentBytes < totalBytes
				? `sent ${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}`
				: `sent ${formatBytes(totalBytes)}, waiting for the answer`;
		return `${what}: ${part}, ${seconds} s`;
	};
	// A terminal that says it has no columns would make the spinner count its lines for ever.
	const spinner = process.stderr.isTTY && process.stderr.columns > 0 ? ora({ text: describe(), discardStdin: false }).start() : null;
	if (spinner === null) console.error(`${what}: ${formatBytes(totalBytes)}`);
	const timer = setInterval(
		() => {
			if (spinner === null) console.error(describe());
			else spinner.text = describe();
		},
		spinner === null ? SPARSE_MS : REFRESH_MS,
	);
	return {
		sent(bytes) {
			sentBytes = bytes;
		},
		end() {
			clearInterval(timer);
			spinner?.stop();
		},
	};
}

export function formatBytes(bytes: number): string {
	if (bytes < 1_000) return `${bytes} B`;
	return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
