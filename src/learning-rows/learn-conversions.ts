/**
 * Conversions and what prices are learned from: after any change of a conversion, and in its transaction, what it had added is taken back
 * and what it now is added. So histories with the same end give the same rows.
 */
import { type SQL, sql } from "drizzle-orm";
import { namedCells, writeCells } from "../db/json-rows.ts";
import { sizeClassOf } from "../learning/size-class.ts";
import type { Verdict } from "../lib/enums.ts";
import { addEarningRows } from "./add-rows.ts";
import { CELL, CLICK_DAY, IS_LEARNED, IS_PAID, JOIN_SOURCES } from "./placed.ts";

/** A conversion as it stands after the change. */
export type LearnedConversion = { platform: string; txnid: string; grossMicros: number | null; verdict: Verdict | null };

const KEY = ["platform", "txnid", "sizeClass"] as const;
const key = namedCells(KEY, sql`k.value`);

/**
 * Brings what is learned from up to date with conversions that the same transaction has written: for statements behind those.
 * @param conversions those that have a click, or had one
 * @param known       those of them that had one before
 */
export function learnConversions(conversions: readonly LearnedConversion[], known: readonly LearnedConversion[]): SQL[] {
	if (conversions.length === 0) return [];
	const rows = writeCells(
		KEY,
		conversions.map((conversion) => ({ platform: conversion.platform, txnid: conversion.txnid, sizeClass: classOf(conversion) })),
	);
	const learned = (keys: string) => sql`json_each(${keys}) k CROSS JOIN learning_conversions l CROSS JOIN clicks c`;
	const isAsked = sql`l.platform = ${key.platform} AND l.txnid = ${key.txnid} AND l.paid = 1 AND c.id = l.click_id`;
	const before = writeCells(["platform", "txnid"], known);
	return [
		...(known.length === 0 ? [] : [...addConversions(-1, learned(before), isAsked), forgetOthers(before)]),
		restate(rows),
		...addConversions(1, learned(rows), isAsked),
	];
}

function classOf({ grossMicros, verdict }: LearnedConversion): number {
	return grossMicros === null || grossMicros <= 0 ? 0 : sizeClassOf(grossMicros, verdict === "released");
}

/** What was taken back is of TAKEN_BACK_CLASS, whatever its size, and counted below zero. */
const SIZE_CLASS: SQL = sql`CASE WHEN l.reversed_lag IS NULL THEN l.size_class ELSE -1 END`;

/**
 * Adds what learned conversions stand for, or takes it back.
 * @param from      `learning_conversions l` and their `clicks c`, in the order in which they are looked up
 * @param condition joins them, and says which are meant
 */
export function addConversions(sign: 1 | -1, from: SQL, condition: SQL): SQL[] {
	const one = sql`CAST(${sign} AS BIGINT)`;
	return [
		addEarningRows(sql`SELECT ${CELL}, l.day, ${SIZE_CLASS}, ${one} * sum(CASE WHEN l.reversed_lag IS NULL THEN 1 ELSE -1 END),
				${one} * sum(CASE WHEN l.reversed_lag IS NULL THEN l.net_micros ELSE 0 END)
			FROM ${from} ${JOIN_SOURCES} WHERE ${condition} AND (l.reversed_lag IS NOT NULL OR l.net_micros > 0)
			GROUP BY ${CELL}, l.day, ${SIZE_CLASS}`),
		sql`INSERT INTO learning_publisher_delays (platform, publisher_id, day, lag, arrivals, reversals)
			SELECT e.platform, e.publisher_id, e.day, e.lag, ${one} * sum(e.arrived), ${one} * sum(e.reversed) FROM (
				SELECT l.platform, c.publisher_id, l.day, l.approved_lag AS lag, 1 AS arrived, 0 AS reversed FROM ${from} WHERE ${condition}
				UNION ALL SELECT l.platform, c.publisher_id, l.day, l.reversed_lag AS lag, 0 AS arrived, 1 AS reversed FROM ${from}
				WHERE ${condition} AND l.reversed_lag IS NOT NULL) e
			WHERE true GROUP BY e.platform, e.publisher_id, e.day, e.lag
			ON CONFLICT (platform, publisher_id, day, lag) DO UPDATE SET
				arrivals = learning_publisher_delays.arrivals + excluded.arrivals,
				reversals = learning_publisher_delays.reversals + excluded.reversals`,
	];
}

/** A conversion that has another click, or none, begins again. */
function forgetOthers(keys: string): SQL {
	return sql`DELETE FROM learning_conversions WHERE (platform, txnid) IN (SELECT ${key.platform}, ${key.txnid} FROM json_each(${keys}) k)
		AND NOT EXISTS (SELECT 1 FROM conversions v WHERE v.platform = learning_conversions.platform AND v.txnid = learning_conversions.txnid
			AND v.click_id = learning_conversions.click_id)`;
}

const STANDS: SQL = sql`(v.stage = 'settled' AND v.status = 'approved')`;
/** Between the click and the change that is being written. */
const LAG: SQL = sql`CASE WHEN v.updated_at / 86400000 > ${CLICK_DAY} THEN v.updated_at / 86400000 - ${CLICK_DAY} ELSE 0 END`;

/** Writes how the conversions stand: when they were first approved stays, and so does since when they do not stand. */
function restate(rows: string): SQL {
	return sql`INSERT INTO learning_conversions (platform, txnid, click_id, day, approved_lag, reversed_lag, net_micros, size_class, paid)
		SELECT v.platform, v.txnid, c.id, ${CLICK_DAY}, ${LAG}, CASE WHEN NOT ${STANDS} THEN ${LAG} END, coalesce(v.gross_micros, 0),
			CAST(${key.sizeClass} AS BIGINT), ${IS_PAID}
		FROM json_each(${rows}) k CROSS JOIN conversions v CROSS JOIN clicks c
		WHERE v.platform = ${key.platform} AND v.txnid = ${key.txnid} AND c.id = v.click_id AND v.test = 0
			AND ${IS_LEARNED} AND (c.reason IS NULL OR c.reason = 'voided')
			AND (${STANDS} OR EXISTS (SELECT 1 FROM learning_conversions l WHERE l.platform = v.platform AND l.txnid = v.txnid))
		ON CONFLICT (platform, txnid) DO UPDATE SET
			reversed_lag = CASE WHEN excluded.reversed_lag IS NULL THEN NULL
				ELSE coalesce(learning_conversions.reversed_lag, excluded.reversed_lag) END,
			net_micros = excluded.net_micros, size_class = excluded.size_class, paid = excluded.paid`;
}
