import { eq, type SQL } from "drizzle-orm";
import { type AuditActor, auditStatement } from "../audit/audit-statement.ts";
import type { Database } from "../db/client.ts";
import { publishers } from "../db/schema/publishers.ts";
import { invalidInput } from "../http/errors.ts";
import { findCallbackUrlFault } from "../lib/callback-url.ts";
import type { HttpError } from "../lib/http.ts";
import { type AttemptDeps, attemptCallback } from "./attempt-callback.ts";
import { buildCallbackUrl, type CallbackFacts, NO_LINK_FACTS } from "./build-callback-url.ts";
import { openSecrets, selectSecrets } from "./callback-secrets.ts";
import type { CallbackDeps } from "./deliver-callback.ts";
import type { TestReport } from "./operator-answers.ts";

type TestDeps = AttemptDeps & Pick<CallbackDeps, "db" | "box">;

/** Where a test goes: to a publisher's address, or to one that is given. */
export type TestTarget = { publisher: string } | { url: string };

/**
 * Sends one test callback and reports the result. Nobody can take it for money: its txnid begins with `test-`, its cid is
 * `test`, its payout 0. It is neither in the outbox nor repeated, and tells nothing about the address's health.
 * @param show the address as the report may have it, where some of it is a secret; what its macros are filled with is none
 * @throws HttpError 404 or 422 where there is no such publisher or address, or it may not be called
 */
export async function testCallback(deps: TestDeps, target: TestTarget, show = (url: string) => url): Promise<TestReport> {
	const url = "url" in target ? target.url : await findPublisherUrl(deps.db, target.publisher);
	const fault = findCallbackUrlFault(url, deps);
	if (fault !== null) throw invalid("url" in target ? "url" : "publisher", `${"url" in target ? "" : "its callback_url "}${fault}`);
	const id = `test-${crypto.randomUUID()}`;
	const facts: CallbackFacts = { ...NO_LINK_FACTS, id, txnid: id, cid: "test", payoutMicros: 0, status: "approved", eventAt: deps.now() };
	const secrets = "url" in target ? [] : await readSecrets(deps, target.publisher);
	const attempt = await attemptCallback(deps, { url, facts, secrets, test: true });
	return {
		called: buildCallbackUrl(show(url), facts),
		http_status: attempt.httpStatus,
		confirmed: attempt.confirmed,
		latency_ms: attempt.latencyMs,
		answer: attempt.answer,
	};
}

async function readSecrets({ db, box, now }: TestDeps, publisher: string): Promise<string[]> {
	return openSecrets(box, publisher, await db.all<{ sealed: string }>(selectSecrets(publisher, now())));
}

async function findPublisherUrl(db: Database, publisher: string): Promise<string> {
	const [row] = await db.select({ url: publishers.callbackUrl }).from(publishers).where(eq(publishers.id, publisher));
	if (row === undefined) throw invalid("publisher", `there is no publisher ${publisher}`);
	if (row.url === null) throw invalid("publisher", "has no callback_url");
	return row.url;
}

function invalid(path: string, message: string): HttpError {
	return invalidInput([{ path, message: message.trim() }]);
}

/** A test that somebody asks for, with its audit. @param show as of {@link testCallback} @throws as {@link testCallback} */
export async function testCallbackFor(
	deps: TestDeps,
	actor: AuditActor,
	target: TestTarget,
	show?: (url: string) => string,
): Promise<TestReport> {
	const report = await testCallback(deps, target, show);
	await deps.db.run(auditTest(actor, deps.now(), target, report));
	return report;
}

/** A test changes nothing here, but calls someone. */
function auditTest(actor: AuditActor, at: number, target: TestTarget, { http_status, confirmed }: TestReport): SQL {
	const subject =
		"publisher" in target
			? ({ subjectKind: "publisher", subjectId: target.publisher } as const)
			: ({ subjectKind: "address", subjectId: new URL(target.url).origin } as const);
	return auditStatement(actor, at, { verb: "testCallback", ...subject, after: { http_status, confirmed } });
}
