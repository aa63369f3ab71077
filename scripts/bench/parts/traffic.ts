import { judgeTraffic } from "../../../test/bench/judge-traffic.ts";
import { mixTraffic } from "../../../test/bench/mixed-traffic.ts";
import { atLeast, tell } from "../figure.ts";
import type { Part } from "../part.ts";

const MIDNIGHT = Date.parse("2026-11-18T00:00:00Z");
const SEED = 1;
/** This many times the visits behind the same shared addresses. */
const CROWD = 5;

export const traffic: Part = {
	name: "traffic",
	about: "which clicks of a mixed day are paid: people's, and those of farms, prefetchers and the like",
	run({ say }) {
		const judged = judgeTraffic(mixTraffic(MIDNIGHT, SEED));
		say("a day of people and others");
		const crowded = judgeTraffic(mixTraffic(MIDNIGHT, SEED, CROWD));
		say("a day of five times the people behind the same addresses");
		const { farm, ...others } = judged.unpaid;
		return Promise.resolve([
			atLeast("traffic.recall", judged.visitsPaid, "of people's visits are paid", 0.98),
			atLeast("traffic.farm_unpaid", farm, "of the farms' clicks are not paid", 0.95),
			tell("traffic.recall_with_repeats", judged.clicksPaid, "of people's clicks, repeated ones among them"),
			tell("traffic.recall_crowded", crowded.visitsPaid, "of people's visits behind crowded addresses"),
			tell("traffic.precision", judged.precision, "of what is paid is a visit"),
			tell("traffic.precision_unproxied", judged.precisionWithoutProxies, "the same without farms behind residential proxies"),
			...Object.entries(others).map(([actor, share]) => tell(`traffic.${actor}_unpaid`, share, "of its clicks are not paid")),
			...Object.entries(judged.lost).map(([reason, share]) => tell(`traffic.lost.${reason}`, share, "of people's visits")),
		]);
	},
};
