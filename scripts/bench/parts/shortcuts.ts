import { buildWorker } from "../build-worker.ts";
import { tell } from "../figure.ts";
import type { Part } from "../part.ts";
import { timeStages } from "../profile-loops.ts";
import { startWorkers } from "../runtime.ts";

/** Shortcuts of test/bench/shortcuts-worker.ts; each has a stage `{name}_plain` beside it. */
const SHORTCUTS = [
	"new_uuid",
	"web_address",
	"click_url",
	"write_fill",
	"query",
	"decode_text",
	"local_hour",
	"local_day",
	"is_bot",
	"hash_user_agent",
	"hash_connection",
] as const;

export const shortcuts: Part = {
	name: "shortcuts",
	about: "what each shortcut of the bid path and the redirect saves over plain code",
	async run(bench) {
		const script = await buildWorker(bench, { entry: "test/bench/shortcuts-worker.ts", environment: "edge" });
		await using runtime = await startWorkers(bench.folder, [{ name: "shortcuts", script }]);
		const stages = ["empty", ...SHORTCUTS.flatMap((name) => [name, `${name}_plain`])];
		const micros = await timeStages(await runtime.origin("shortcuts"), "", stages, bench.say);
		const cost = (stage: string) => Math.max(0, (micros.get(stage) ?? Number.NaN) - (micros.get("empty") ?? Number.NaN));
		return SHORTCUTS.flatMap((name) => [
			tell(`shortcuts.${name}.plain`, cost(`${name}_plain`), "µs"),
			tell(`shortcuts.${name}.short`, cost(name), "µs"),
		]);
	},
};
