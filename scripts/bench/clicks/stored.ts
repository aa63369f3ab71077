/** SELECTs that make the rows of clickRow in the database itself, by the million. */
import {
	CAMPAIGNS,
	CAMPAIGNS_PER_BRAND,
	FIRST_AT,
	FIRST_CAMPAIGN_ID,
	GAP_MS,
	IDENTITIES,
	SCATTER,
	SOURCES,
} from "../../../test/bench/click-messages.ts";
import { TIMEZONE } from "./network.ts";
import { CLICK_ROW_COLUMNS, clickRow } from "./row.ts";

/** What the engines write differently: a number in hexadecimal digits, filled up with zeros. */
export type Hex = (number: string, digits: number) => string;

export const sqliteHex: Hex = (number, digits) => `printf('%0${digits}x', ${number})`;
export const postgresHex: Hex = (number, digits) => `lpad(to_hex(${number}), ${digits}, '0')`;

const SCATTERED = `((n + 1) * ${SCATTER} & 4294967295)`;
const CAMPAIGN = `((${SCATTERED} >> 8) % ${CAMPAIGNS})`;
const AT = `(${FIRST_AT} + n * ${GAP_MS})`;

/** An INSERT into `table` of the clicks whose numbers `numbers`, a FROM clause, gives as `n`. */
export function insertStoredClicks(table: string, hex: Hex, numbers: string): string {
	const computed: Record<string, string> = {
		id: `${hex(`${AT} >> 16`, 8)} || '-' || ${hex(`${AT} & 65535`, 4)} || '-7000-8000-' || ${hex("n", 12)}`,
		click_hash: `${hex(SCATTERED, 8)} || ${hex("n", 24)}`,
		clicked_at: AT,
		publisher_id: `'p' || (n % ${IDENTITIES})`,
		brand_id: `${CAMPAIGN} / ${CAMPAIGNS_PER_BRAND} + 1`,
		campaign_id: `${FIRST_CAMPAIGN_ID} + ${CAMPAIGN}`,
		publisher_click_id: `'click-' || ${hex(SCATTERED, 8)}`,
		source_id: `'search-results-top-' || (n % ${SOURCES})`,
		subi: `'search-results-top-' || (n % ${SOURCES})`,
		uid: "'user-' || (n % 9973)",
		ip_prefix: "'203.0.' || (n % 250) || '.0/24'",
	};
	// Every other column is the same in each row.
	const values = Object.entries(clickRow(0)).map(([column, value]) => computed[column] ?? literal(value));
	return `INSERT INTO ${table} (${CLICK_ROW_COLUMNS.join(", ")}) SELECT ${values.join(", ")} FROM ${numbers}`;
}

/**
 * The counters that clicks after number `rows` meet: of every campaign, and of every campaign with every publisher.
 * @param series a FROM clause that gives the numbers from 0 up to below `count` as `n`
 */
export function insertStoredCounters(rows: number, series: (count: number) => string): string[] {
	const at = FIRST_AT + rows * GAP_MS;
	const utcDay = new Date(at).toISOString().slice(0, 10);
	const localDay = new Intl.DateTimeFormat("en-CA", { timeZone: TIMEZONE }).format(at);
	const campaigns = `${FIRST_CAMPAIGN_ID} + n FROM ${series(CAMPAIGNS)}`;
	const pair = `n / ${IDENTITIES}`;
	const click = clickRow(0);
	const of = (column: string) => literal(click[column] ?? null);
	return [
		`INSERT INTO campaign_days (day, campaign_id) SELECT '${localDay}', ${campaigns}`,
		`INSERT INTO daily_network (campaign_id, date, publisher_id, brand_id, platform, country, kind, reason)
			SELECT ${FIRST_CAMPAIGN_ID} + ${pair}, '${utcDay}', 'p' || (n % ${IDENTITIES}), ${pair} / ${CAMPAIGNS_PER_BRAND} + 1,
				${of("platform")}, ${of("country")}, ${of("kind")}, ''
			FROM ${series(CAMPAIGNS * IDENTITIES)} ORDER BY 3, 2, 1`,
	];
}

function literal(value: string | number | null): string {
	return typeof value === "string" ? `'${value}'` : String(value);
}
