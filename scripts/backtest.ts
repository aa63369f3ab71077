/** `npm run backtest`: learned prices, walked forward through a ledger's own history; or the learner behind standard input and output. */
import { Command } from "commander";
import { isoTime } from "../src/lib/time.ts";
import { findLocalDatabase, readPostgresLedger, readSqliteLedger } from "./backtest/read-ledger.ts";
import { describeReport, reportLedger } from "./backtest/report-ledger.ts";
import { serve } from "./backtest/serve.ts";
import { walkLedger } from "./backtest/walk-ledger.ts";
import { Failure, reportFailure } from "./local/failure.ts";

const command = new Command("npm run backtest --")
	.description("Prices that learn, tried on a ledger: what would have been believed of each click, and what it earned.")
	.option("--database <file>", "the network's database as SQLite, such as of `wrangler d1 export` (otherwise the local server's)")
	.option("--postgres", "the network's database on PostgreSQL, of DATABASE_URL")
	.option("--settle-days <days>", "clicks of this many last days are not judged: their conversions are still to come", "30")
	.option("--json", "print figures as JSON, in micro-dollars")
	.option("--serve", "instead, read one JSON object a line from standard input, and answer `prices` with one line")
	.allowExcessArguments(false)
	.parse();

const {
	serve: isServed,
	database,
	postgres,
	settleDays,
	json,
} = command.opts<{ serve?: true; database?: string; postgres?: true; settleDays: string; json?: true }>();

function readDatabaseUrl(): string {
	const url = process.env.DATABASE_URL;
	if (!url || database !== undefined) throw new Failure("--postgres needs DATABASE_URL, and no --database beside it.");
	return url;
}

async function run(): Promise<void> {
	if (isServed) return serve(process.stdin, process.stdout, process.stderr);
	if (!/^\d{1,4}$/.test(settleDays)) throw new Failure("--settle-days must be a number of days.");
	const ledger = postgres ? await readPostgresLedger(readDatabaseUrl()) : await readSqliteLedger(database ?? findLocalDatabase());
	const report = reportLedger(walkLedger(ledger, Number(settleDays)));
	if (ledger.completeFrom !== null) {
		console.error(`Clicks before ${isoTime(ledger.completeFrom)} are left out: those without a conversion have been removed.`);
	}
	console.log(json ? JSON.stringify(report, null, 2) : describeReport(report, Number(settleDays)));
}

run().catch(reportFailure);
