/**
 * `npm start`: the whole service on this machine, with a demo network in it; `npm start -- --no-demo` leaves that out, and `npm start --
 * --postgres` has PostgreSQL as the network database.
 */
import { checkAlertSettings, checkVariables } from "../src/variables.ts";
import { startCallbackReceiver } from "./local/callback-receiver.ts";
import { startCron } from "./local/cron.ts";
import { startDevServer } from "./local/dev-server.ts";
import { Failure, reportFailure } from "./local/failure.ts";
import { migrateLocalDatabases } from "./local/migrate.ts";
import { readOptions } from "./local/options.ts";
import { DEV_VARS } from "./local/paths.ts";
import { demandFreePort, forwardIpv6, readPort } from "./local/port.ts";
import { demandUnboundPostgres } from "./local/postgres-config.ts";
import { findRunning, markRunning, unmarkRunning } from "./local/running.ts";
import { prepareVariables } from "./local/secrets.ts";
import { demandWritable } from "./local/writable.ts";
import { openNetworkDatabase } from "./postgres/network-database.ts";
import { demoAnswersBids, isReady, loadDemo } from "./start/demo-network.ts";
import { issueDemoLinks } from "./start/demo-sign-in.ts";
import { drainQueues } from "./start/drain-queues.ts";
import { describeServer } from "./start/tour.ts";

/** What has to be ended, the last thing first. */
const cleanups: (() => unknown)[] = [];
let stopping: Promise<void> | null = null;
/** Aborted by a second signal: nothing is waited for any more. */
const hurry = new AbortController();

function stop(): Promise<void> {
	stopping ??= (async () => {
		for (const cleanup of cleanups.reverse()) await cleanup();
	})();
	return stopping;
}

/** Registers what has to be ended; at once where everything is being ended already. */
async function atStop(cleanup: () => unknown): Promise<void> {
	if (stopping === null) cleanups.push(cleanup);
	else await cleanup();
}

const USAGE =
	"Use `npm start`, or `npm start -- --no-demo` to leave the demo network out, `-- --postgres` for PostgreSQL as the database; PORT in the environment sets the port.";

async function start(): Promise<void> {
	const options = { "no-demo": { type: "boolean", default: false }, postgres: { type: "boolean", default: false } } as const;
	const { "no-demo": isEmpty, postgres: onPostgres } = readOptions(options, USAGE);
	if (!onPostgres) demandUnboundPostgres();
	const port = readPort(process.env);
	const running = await findRunning();
	if (running !== null) {
		throw new Failure(
			`A server already runs in this folder, on port ${running.port} (process ${running.pid}).\n` +
				`Stop it first (Ctrl-C in its window, else \`kill ${running.pid}\`): two servers cannot share the state in .wrangler.`,
		);
	}
	await demandFreePort(port);
	demandWritable();
	const { variables, written } = prepareVariables(process.env);
	if (written.length > 0) console.log(`Wrote fresh secrets to ${DEV_VARS}: ${written.join(", ")}`);
	const origin = `http://localhost:${port}`;
	const addresses = { RTB_URL: origin, CLICK_URL: origin, TRACKER_URL: origin, BASE_URL: origin };
	const settings = { ...addresses, ALLOW_INSECURE_CALLBACKS: "true", ...variables, ...chosenSettings(process.env) };
	const mayCallThisMachine = demandSoundSettings(settings).ALLOW_INSECURE_CALLBACKS;
	markRunning(port);
	await atStop(unmarkRunning);

	console.log("Preparing the local databases …");
	await migrateLocalDatabases();
	const postgres = onPostgres ? await openNetworkDatabase(process.env) : null;
	await atStop(() => postgres?.stop());
	if (stopping !== null) return;

	const receiver = await startCallbackReceiver(port, (line) => console.log(line));
	await atStop(() => receiver?.stop());
	if (receiver === null)
		console.log(
			"The port at which callbacks of this network arrive is taken: they fail until a start finds it free. `npm run reset` chooses another.",
		);

	console.log("Starting the server …");
	const server = startDevServer(port, settings, postgres);
	markRunning(port, server.pid);
	await atStop(server.stop);
	await server.ready;
	server.ended.then((asked) => {
		if (asked || stopping !== null) return;
		reportFailure(new Failure("The server ended by itself: see its output above. Run `npm start` again."));
		void stop();
	}, reportFailure);
	const ipv6 = await forwardIpv6(port);
	await atStop(() => ipv6?.close());
	if (stopping !== null) return;

	const local = `http://127.0.0.1:${port}`;
	if (!isEmpty && !(await isReady(local))) {
		console.log("Loading the demo network …");
		console.log(await loadDemo(local, variables.OPERATOR_KEY ?? "", mayCallThisMachine ? (receiver?.origin ?? null) : null));
	}
	await atStop(startCron(local));
	await atStop(async () => {
		const lost = await drainQueues(local, variables.OPERATOR_KEY ?? "", hurry.signal);
		if (lost !== null) console.error(lost);
	});
	const content = (await demoAnswersBids(local)) ? "demo" : (await isReady(local)) ? "own" : "nothing";
	const links = content === "demo" ? await issueDemoLinks(local, variables.OPERATOR_KEY ?? "") : null;
	console.log(describeServer(origin, content, receiver?.origin ?? null, links));
}

/** Settings of the Worker that the environment may choose. Nothing else of it reaches the Worker. */
function chosenSettings(environment: NodeJS.ProcessEnv): Record<string, string> {
	const { ALLOW_INSECURE_CALLBACKS } = environment;
	return ALLOW_INSECURE_CALLBACKS === undefined ? {} : { ALLOW_INSECURE_CALLBACKS };
}

/** The Worker would answer 500 to everything, or send no alert. @throws Failure that names what is wrong */
function demandSoundSettings(settings: Record<string, string>): ReturnType<typeof checkVariables> {
	try {
		checkAlertSettings(settings);
		return checkVariables(settings);
	} catch (error) {
		throw new Failure(
			`${error instanceof Error ? error.message : String(error)}\nCorrect it in ${DEV_VARS} or in the environment, and run \`npm start\` again.`,
		);
	}
}

/** Ctrl-C in a terminal reaches us twice: by itself, and passed on by what started us. */
const SAME_SIGNAL_MS = 1_000;
let firstSignalAt = Number.POSITIVE_INFINITY;

/** The first signal lets the queues empty themselves, ten seconds at most; a later one does not. */
function onSignal(): void {
	if (Date.now() - firstSignalAt > SAME_SIGNAL_MS) hurry.abort();
	if (stopping === null) {
		firstSignalAt = Date.now();
		console.log("\nStopping, once what was acknowledged is stored … (once more: at once)");
	}
	void stop();
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
// Whoever started us may be killed outright: then nobody would end the server.
const parent = process.ppid;
if (process.env.npm_lifecycle_event !== undefined) setInterval(() => process.ppid !== parent && onSignal(), 1_000).unref();

start().catch(async (error: unknown) => {
	if (stopping === null) reportFailure(error);
	await stop();
});
