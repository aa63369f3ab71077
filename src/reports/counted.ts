/**
 * Which clicks and conversions earn and count: the one definition that the click-by-click reports share. In the words of the partial
 * indexes, so that SQLite sees that these serve it.
 */
import { type SQL, sql } from "drizzle-orm";

/** A click that was billed to be paid by itself. */
export const PAID_CLICK: SQL = sql`reason IS NULL AND pricing_model = 'CPC'`;

/** One that was, until an adjustment took it back: it is shown, and earns and counts nothing. */
export const VOIDED_CLICK: SQL = sql`reason = 'voided' AND pricing_model = 'CPC'`;

/** A conversion that is approved or pending, of a click that was no test. */
export const COUNTED_CONVERSION: SQL = sql`stage = 'settled' AND status <> 'cancelled' AND test = 0`;

/** One that earns: the publisher was paid by conversions when the click was made. */
export const PAID_CONVERSION: SQL = sql`${COUNTED_CONVERSION} AND pricing_model = 'CPA'`;

/** Every other one of conversions `v`, which may be joined with clicks: there is an index of these. */
export const OTHER_CONVERSION: SQL = sql`(v.stage <> 'settled' OR v.status = 'cancelled' OR v.test = 1 OR v.pricing_model IS NULL OR v.pricing_model <> 'CPA')`;
