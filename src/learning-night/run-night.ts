/** A night: the steps of src/learning/night-steps.ts over tables, campaign by campaign, as far as an invocation goes. */
import type { SQL } from "drizzle-orm";
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { nextCreep } from "../learning/creep.ts";
import { DEFAULT_CURVES } from "../learning/delay-curve.ts";
import { caution, overpaidGuard } from "../learning/guards.ts";
import {
	breakOfCampaign,
	closeCampaign,
	type LearnedCampaign,
	layCampaign,
	type NightRules,
	nightRules,
	ROUNDS,
	tellOfCampaign,
} from "../learning/night-steps.ts";
import { type NetworkLearning, networkSettings } from "../learning/policy.ts";
import type { LearningSettings } from "../learning/settings.ts";
import { numberOf, priceTargets, type Steering, type StoredLearning, storeLearning } from "../learning/stored.ts";
import { type SharedFactors, Traffic } from "../learning/traffic.ts";
import { creepStarved } from "./creep-starved.ts";
import { openNight, type Progress, readTraffic, saveNight } from "./night-progress.ts";
import { readCurves } from "./read-curves.ts";
import { type KnownHistory, readHistories } from "./read-histories.ts";
import { readPayouts } from "./read-payouts.ts";
import { runStatements } from "./run-statements.ts";
import { type ClosedCampaign, forgetOthers, writeCampaigns, writeTraffic } from "./write-learned.ts";

export type NightDeps = { db: Database; now: () => number };

/** What an invocation may do of a night: rows of clicks and earnings, after which it keeps how far it is. */
export type NightLimits = { rows: number; mayGoOn: () => boolean };

/**
 * Goes on with the night of a day, until it is done or the invocation has done enough.
 * @returns whether it is done
 */
export async function runNight(
	{ db, now }: NightDeps,
	network: NetworkLearning | null,
	day: number,
	limits: NightLimits,
): Promise<boolean> {
	const night = await openNight(db, day, now());
	if (night.finishedAt !== null) return true;
	return new NightRun(db, network, day, night.progress, limits).run(now);
}

class NightRun {
	readonly #db: Database;
	readonly #network: NetworkLearning | null;
	readonly #settings: LearningSettings;
	readonly #day: number;
	readonly #progress: Progress;
	readonly #limits: NightLimits;
	#rowsLeft: number;
	#traffic = new Traffic();
	#rules: NightRules;
	#shared: SharedFactors | null = null;

	constructor(db: Database, network: NetworkLearning | null, day: number, progress: Progress, limits: NightLimits) {
		this.#db = db;
		this.#network = network;
		this.#settings = networkSettings(network);
		this.#day = day;
		this.#progress = structuredClone(progress);
		this.#limits = limits;
		this.#rowsLeft = limits.rows;
		this.#rules = this.#rulesOf();
	}

	async run(now: () => number): Promise<boolean> {
		const progress = this.#progress;
		if (progress.step !== "payouts") this.#traffic = await readTraffic(this.#db);
		while (progress.step !== "done") {
			if (await this.#take()) continue;
			await saveNight(this.#db, this.#day, progress, this.#traffic);
			return false;
		}
		const finished = sql`UPDATE learning_nights SET finished_at = ${now()} WHERE day = ${this.#day}`;
		await saveNight(this.#db, this.#day, progress, null, [finished]);
		return true;
	}

	#rulesOf(): NightRules {
		const { curves, usualMicros, loading } = this.#progress;
		const byPlatform = new Map(Object.entries(curves));
		return nightRules(this.#day, byPlatform, DEFAULT_CURVES, this.#settings.halfLifeDays, { usualMicros, loading });
	}

	/** Takes one step; false where it was cut off. */
	async #take(): Promise<boolean> {
		const progress = this.#progress;
		switch (progress.step) {
			case "payouts":
				Object.assign(progress, await readPayouts(this.#db), { curves: Object.fromEntries(await readCurves(this.#db, this.#day)) });
				this.#rules = this.#rulesOf();
				progress.step = "round";
				return true;
			case "round":
				if (!(await this.#pass((histories) => this.#tell(histories)))) return false;
				this.#shared = this.#traffic.fit(this.#settings.kappa);
				progress.round++;
				progress.step = progress.round === ROUNDS ? "breaks" : progress.round === 2 * ROUNDS ? "close" : "round";
				return true;
			case "breaks":
				if (!(await this.#pass((histories) => this.#findBreaks(histories)))) return false;
				progress.step = Object.keys(progress.breaks).length > 0 ? "round" : "close";
				return true;
			case "close":
				if (!(await this.#pass((histories) => this.#close(histories)))) return false;
				progress.step = "creep";
				return true;
			case "creep":
				if (!(await this.#creep())) return false;
				progress.step = "traffic";
				return true;
			default:
				await runStatements(this.#db, [...writeTraffic(this.#fitted(), this.#day, this.#settings), ...forgetOthers(this.#day)]);
				progress.step = "done";
				return true;
		}
	}

	/** Goes through all campaigns; false where the invocation has done enough. */
	async #pass(take: (histories: readonly KnownHistory[]) => Promise<void> | void): Promise<boolean> {
		const progress = this.#progress;
		for (;;) {
			if (this.#rowsLeft <= 0 || !this.#limits.mayGoOn()) return false;
			const { histories, last, rows } = await readHistories(this.#db, this.#network, progress.after);
			await take(histories.map((history) => this.#withBreak(history)));
			this.#rowsLeft -= rows;
			progress.after = last ?? 0;
			if (last === null) return true;
		}
	}

	/** Goes through the campaigns that have no clicks. */
	async #creep(): Promise<boolean> {
		const progress = this.#progress;
		for (;;) {
			if (!this.#limits.mayGoOn()) return false;
			const last = await creepStarved(this.#db, this.#network, this.#day, progress.after);
			progress.after = last ?? 0;
			if (last === null) return true;
		}
	}

	#withBreak(history: KnownHistory): KnownHistory {
		const found = this.#progress.breaks[history.terms.id];
		return found === undefined ? history : { ...history, lastBreak: found };
	}

	#tell(histories: readonly KnownHistory[]): void {
		// What a round begins with is what the one before has left of the traffic's factors, not of its sums.
		if (this.#progress.after === 0) this.#traffic.clear();
		for (const history of histories) tellOfCampaign(layCampaign(history, this.#rules, this.#traffic));
	}

	#findBreaks(histories: readonly KnownHistory[]): void {
		for (const history of histories) {
			const found = breakOfCampaign(layCampaign(history, this.#rules, this.#traffic), this.#rules);
			if (found !== null) this.#progress.breaks[history.terms.id] = found;
		}
	}

	async #close(histories: readonly KnownHistory[]): Promise<void> {
		const steered = await readSteering(
			this.#db,
			histories.map(({ terms }) => Number(terms.id)),
		);
		const closed = histories.map((history): ClosedCampaign => {
			const learned = closeCampaign(layCampaign(history, this.#rules, this.#traffic), this.#rules, this.#fitted());
			const campaignId = Number(history.terms.id);
			const known = steered.get(campaignId);
			const prices = priceTargets(learned);
			const numbers = known?.numbers ?? {};
			return {
				campaignId,
				learned: storeLearning(learned, history.terms, this.#rules.loading),
				lastBreak: learned.lastBreak,
				steering: this.#steer(history.settings, learned, known),
				prices,
				// Prices that are only advised are not in force anywhere.
				renumbered: [...prices.keys()].filter(
					(keyword) =>
						history.mode === "automatic" && numbers[keyword] !== undefined && numbers[keyword] !== numberOf(history.terms, keyword),
				),
			};
		});
		const statements: SQL[] = writeCampaigns(closed, this.#day, this.#settings);
		await runStatements(this.#db, statements);
	}

	/** Guards that hold already stay until the hour puts others in their place: the book has them. */
	#steer(settings: LearningSettings, { weekExpected, factors, balance }: LearnedCampaign, known: Known | undefined): Steering {
		const { observed } = factors.campaign;
		const { caution: strength, kappa, allowanceMicros } = settings;
		const before = known?.steering ?? null;
		// A night that is gone through again has let it creep already.
		const creep = known?.day === this.#day ? (before?.creep ?? 1) : nextCreep(before?.creep ?? 1, weekExpected, settings.creep);
		const inForce = before ?? {
			caution: caution(strength, kappa.campaign, observed),
			overpaid: overpaidGuard(balance, allowanceMicros),
			bidCreep: creep,
		};
		return { caution: inForce.caution, overpaid: inForce.overpaid, bidCreep: inForce.bidCreep, creep, observed, balance };
	}

	#fitted(): SharedFactors {
		// Of sums that are not changed any more it is always the same.
		this.#shared ??= this.#traffic.fit(this.#settings.kappa);
		return this.#shared;
	}
}

type Known = { day: number; steering: Steering | null; numbers: StoredLearning["numbers"] };

async function readSteering(db: Database, ids: readonly number[]): Promise<Map<number, Known>> {
	type Row = { campaignId: number; day: number; steering: string | null; numbers: string | null };
	const rows = await db.all<Row>(sql`SELECT campaign_id AS "campaignId", day, steering, learned ->> 'numbers' AS numbers
		FROM learning_campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(ids)}))`);
	return new Map(
		rows.map(({ campaignId, day, steering, numbers }) => [
			campaignId,
			{
				day,
				steering: steering === null ? null : (JSON.parse(steering) as Steering),
				numbers: numbers === null ? {} : (JSON.parse(numbers) as StoredLearning["numbers"]),
			},
		]),
	);
}
