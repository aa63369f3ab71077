/** Postbacks of clicks whose users were erased settle as ever; what they tell of the user is not kept again. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { ERASED } from "../db/schema/clicks.ts";
import { decodeText } from "../lib/query.ts";
import type { Conversion, ConversionKey } from "./conversion.ts";
import { asClickHash } from "./match-click.ts";
import type { Intake, Postback, ReceivedPostback } from "./message.ts";
import { OTHER_NAMES, plainName } from "./other-names.ts";
import type { LedgerState } from "./read-ledger-state.ts";

/** Parameters of a postback that are about money. */
const OF_MONEY: ReadonlySet<string> = new Set(["txnid", "edate", "payout", "sales", "currency", "status"]);
/** What they may have come as, where a postback was refused for it. */
const OF_MONEY_ELSEWHERE: ReadonlySet<string> = new Set(["txnid", "edate", "payout"].flatMap((name) => OTHER_NAMES[name] ?? []));

/** Whether a parameter is about money, by its own name or another. */
export function isOfMoney(name: string): boolean {
	return OF_MONEY.has(name) || OF_MONEY_ELSEWHERE.has(plainName(name));
}

/** The query of a postback that was accepted, with `cid` (the click's hash) in the place of any other id of the click. */
export function redactAccepted(query: string, cid: string): string {
	const params = [...new URLSearchParams(query)];
	return new URLSearchParams([...params.filter(([name]) => OF_MONEY.has(name)), ["cid", cid]]).toString();
}

/** Which clicks are erased, for what was refused: ids of theirs may stand under any name. */
export type Names = {
	/** Whether a value is an id of one of them, or has one in it. */
	has: (value: string) => boolean;
	/** What stands in the place of a value that is one; null for anything else. */
	instead: (value: string) => string | null;
};

/** The query of a postback that was refused, which may be replayed by other names of its parameters. @param cid what it has as its click id */
export function redactRefused(query: string, cid: string, names: Names): string {
	const kept = [...new URLSearchParams(query)].flatMap(([name, value]): [string, string][] => {
		if (OF_MONEY.has(name)) return [[name, value]];
		if (name === "cid") return [[name, cid]];
		if (isOfMoney(name)) return names.has(value) ? [] : [[name, value]];
		const instead = names.instead(value);
		return instead === null ? [] : [[name, instead]];
	});
	return new URLSearchParams(kept).toString();
}

/** Without what is a user's. Whether it repeats another is told by how it came: so it was told of those that came before the erasure. */
function redactPostback(postback: Postback, cid: string): Postback {
	return { ...postback, cid, s2: null, s3: null, surl: null, asCame: postback };
}

/**
 * Those that came in, without what is of erased users.
 * @param conversionOf what those that were accepted make of a conversion, or what it is
 */
export async function redactErased(
	db: Database,
	received: readonly ReceivedPostback[],
	ledger: Pick<LedgerState, "erasedCidOf">,
	conversionOf: (key: ConversionKey) => Pick<Conversion, "clickId" | "attribution"> | null,
): Promise<ReceivedPostback[]> {
	const named = received.flatMap((item) => (isAccepted(item) ? [] : hashesIn(item.intake)));
	const erased = await readErasedHashes(db, [...new Set(named)]);
	return received.map((item) => {
		if (!isAccepted(item)) return redactIfErased(item, erased);
		const { intake, postback } = item;
		const { platform } = intake;
		const key = { platform, txnid: postback.txnid };
		const { clickId, attribution } = conversionOf(key) ?? { clickId: null, attribution: null };
		const cid = ledger.erasedCidOf({ ...key, clickId, attribution, cid: postback.cid });
		if (cid === null) return item;
		return { ...item, intake: { ...intake, cid, query: redactAccepted(intake.query, cid) }, postback: redactPostback(postback, cid) };
	});
}

type Accepted = ReceivedPostback & { intake: { platform: string }; postback: Postback };

function isAccepted(item: ReceivedPostback): item is Accepted {
	return item.postback !== null && item.intake.platform !== null;
}

function redactIfErased(item: ReceivedPostback, erased: ReadonlySet<string>): ReceivedPostback {
	const { intake } = item;
	const has = (value: string) => hashesOf(value).some((hash) => erased.has(hash));
	if (erased.size === 0 || !hashesIn(intake).some((hash) => erased.has(hash))) return item;
	const erasedHash = (value: string) => {
		const hash = asClickHash(value.trim());
		return hash !== null && erased.has(hash) ? hash : null;
	};
	const cid = intake.cid === null ? null : (erasedHash(intake.cid) ?? intake.cid);
	return { ...item, intake: { ...intake, cid, query: redactRefused(intake.query, cid ?? "", { has, instead: erasedHash }) } };
}

/** All that may be click hashes, lower case. Of a request that nobody's key came with, the query may be cut off before its click id. */
function hashesIn({ cid, query }: Pick<Intake, "cid" | "query">): string[] {
	return [cid ?? "", ...new URLSearchParams(query).values()].flatMap(hashesOf);
}

/** Escaped twice, too. */
function hashesOf(value: string): string[] {
	const found = [value, decodeText(value)].flatMap((text) => [...text.matchAll(/(?<![\da-f])[\da-f]{32}(?![\da-f])/gi)]);
	return [...new Set(found.map(([hash]) => hash.toLowerCase()))];
}

/** Of these hashes those of clicks whose users were erased. */
async function readErasedHashes(db: Database, hashes: readonly string[]): Promise<ReadonlySet<string>> {
	if (hashes.length === 0) return new Set();
	const named = sql`click_hash IN (SELECT atom FROM json_each(${JSON.stringify(hashes)})) AND written_by = ${ERASED}`;
	// Each by its own index.
	const rows = await db.all<{
		hash: string;
	}>(sql`SELECT click_hash AS hash FROM clicks WHERE ${named} AND (reason IS NULL OR reason = 'voided')
		UNION SELECT click_hash FROM clicks WHERE ${named} AND reason <> 'voided'`);
	return new Set(rows.map(({ hash }) => hash));
}
