/**
 * Keeps who sent a feed. Products are in another database than the audit, so that no transaction holds both: a row says that the feed is
 * being taken over before anything of it is written, and another what came of it.
 */
import { auditStatement } from "../../audit/audit-statement.ts";
import type { Database } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import type { AuditVerb } from "../../lib/access-enums.ts";
import type { FeedReport } from "./feed-answer.ts";
import type { FeedKind } from "./feed-columns.ts";
import type { FeedOptions } from "./feed-options.ts";

const VERBS: Record<FeedKind, AuditVerb> = { products: "importProducts", seller_products: "importSellerProducts" };

export type FeedAudit = {
	/** Before anything is written: only the first call does something. */
	begin: () => Promise<void>;
	/** Where something was written. */
	end: (report: FeedReport) => Promise<void>;
};

type Deps = { db: Database; now: () => number; actor: Actor };

export function openFeedAudit({ db, now, actor }: Deps, kind: FeedKind, { feed, replace }: FeedOptions): FeedAudit {
	let isBegun = false;
	const write = async (state: string, counts?: Record<string, number>) => {
		const entry = { verb: VERBS[kind], subjectKind: "feed", subjectId: feed ?? kind, after: { kind, replace, state } } as const;
		await db.run(auditStatement(actor, now(), counts === undefined ? entry : { ...entry, counts }));
	};
	return {
		async begin() {
			if (isBegun) return;
			await write("begun");
			isBegun = true;
		},
		async end({ accepted, rejected, removed, incomplete }) {
			if (isBegun) await write(incomplete ? "incomplete" : "done", { accepted, rejected, removed: removed ?? 0 });
		},
	};
}
