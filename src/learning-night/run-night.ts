/** A night: the steps of src/learning/night-steps.ts over tables, campaign by campaign, as far as an invocation goes. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import {
	breakOfCampaign,
	layCampaign,
	type NightRules,
	nightRules,
	ROUNDS,
	tellOfCampaign,
	tellReversals,
} from "../learning/night-steps.ts";
import { type NetworkLearning, networkSettings } from "../learning/policy.ts";
import type { LearningSettings } from "../learning/settings.ts";
import { type SharedFactors, Traffic } from "../learning/traffic.ts";
import { closeHistories } from "./close-histories.ts";
import { creepStarved } from "./creep-starved.ts";
import { chooseFollowed, forgetFollowed, keepFollowed } from "./followed-sources.ts";
import { type KeptParts, openNight, type Progress, readTraffic, saveNight } from "./night-progress.ts";
import { readCurves } from "./read-curves.ts";
import { type HistorySlice, type KnownHistory, readHistories } from "./read-histories.ts";
import { readPayouts } from "./read-payouts.ts";
import { runStatements } from "./run-statements.ts";
import { forgetOthers, writeTraffic } from "./write-learned.ts";

export type NightDeps = { db: Database; now: () => number };

/** What an invocation may do of a night: rows of clicks and earnings, after which it keeps how far it is. */
export type NightLimits = {
	rows: number;
	mayGoOn: () => boolean;
	/** Rows of one campaign, see `readHistories`. */
	campaignRows?: number;
	/** Sources, see `chooseFollowed`. */
	sources?: number;
};

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
	return new NightRun(db, network, day, night.progress, limits, now).run();
}

class NightRun {
	readonly #db: Database;
	readonly #network: NetworkLearning | null;
	readonly #settings: LearningSettings;
	readonly #day: number;
	readonly #progress: Progress;
	readonly #limits: NightLimits;
	readonly #now: () => number;
	#rowsLeft: number;
	#traffic = new Traffic();
	#rules: NightRules;
	#shared: SharedFactors | null = null;
	/** All campaigns, where one slice has them: no step needs to read them again. */
	#all: HistorySlice | null = null;

	constructor(db: Database, network: NetworkLearning | null, day: number, progress: Progress, limits: NightLimits, now: () => number) {
		this.#now = now;
		this.#db = db;
		this.#network = network;
		this.#settings = networkSettings(network);
		this.#day = day;
		this.#progress = structuredClone(progress);
		this.#limits = limits;
		this.#rowsLeft = limits.rows;
		this.#rules = this.#rulesOf();
	}

	async run(): Promise<boolean> {
		const progress = this.#progress;
		let kept: KeptParts = new Map();
		if (progress.step !== "payouts") ({ traffic: this.#traffic, kept } = await readTraffic(this.#db));
		while (progress.step !== "done") {
			if (await this.#take()) continue;
			await saveNight(this.#db, this.#day, progress, this.#traffic, kept);
			return false;
		}
		const finished = sql`UPDATE learning_nights SET finished_at = ${this.#now()} WHERE day = ${this.#day}`;
		await saveNight(this.#db, this.#day, progress, null, kept, [forgetFollowed(), finished]);
		return true;
	}

	#rulesOf(): NightRules {
		const { curves, usualMicros, loading } = this.#progress;
		const byPlatform = new Map(Object.entries(curves));
		return nightRules(this.#day, byPlatform, this.#settings.halfLifeDays, { usualMicros, loading });
	}

	/** Takes one step; false where it was cut off. */
	async #take(): Promise<boolean> {
		const progress = this.#progress;
		switch (progress.step) {
			case "payouts":
				Object.assign(progress, await readPayouts(this.#db), { curves: Object.fromEntries(await readCurves(this.#db, this.#day)) });
				this.#rules = this.#rulesOf();
				await this.#follow();
				progress.step = "reversals";
				return true;
			case "reversals":
				if (!(await this.#pass((histories) => this.#tellReversals(histories)))) return false;
				this.#traffic.stand(this.#settings.kappa);
				progress.step = "round";
				return true;
			case "round":
				if (!(await this.#pass((histories) => this.#tell(histories)))) return false;
				progress.round++;
				this.#shared = this.#traffic.fit(this.#settings.kappa, progress.round % ROUNDS === 0);
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

	async #follow(): Promise<void> {
		const followed = await chooseFollowed(this.#db, this.#day, this.#limits.sources);
		await runTransaction(this.#db, keepFollowed(followed));
		this.#traffic = new Traffic([], followed);
	}

	/** Goes through all campaigns; false where the invocation has done enough. */
	async #pass(take: (histories: readonly KnownHistory[]) => Promise<void> | void): Promise<boolean> {
		const progress = this.#progress;
		for (;;) {
			if (this.#rowsLeft <= 0 || !this.#limits.mayGoOn()) return false;
			const slice = this.#all ?? (await readHistories(this.#db, this.#network, progress.after, this.#limits.campaignRows));
			const { histories, last, rows } = slice;
			if (progress.after === 0 && last === null) this.#all = slice;
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

	#tellReversals(histories: readonly KnownHistory[]): void {
		for (const history of histories) tellReversals(history, this.#rules, this.#traffic);
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
		const night = { day: this.#day, at: this.#now(), settings: this.#settings, rules: this.#rules, shared: this.#fitted() };
		await closeHistories(this.#db, night, histories, this.#traffic);
	}

	#fitted(): SharedFactors {
		// Of sums that are not changed any more it is always the same.
		this.#shared ??= this.#traffic.fit(this.#settings.kappa);
		return this.#shared;
	}
}
