/** `traffic` of the network file: which clicks are paid, as the network, a publisher or a campaign sets it. */
import * as v from "valibot";
import { listOfAtMost, notAList } from "../../lib/shapes.ts";
import { TRAFFIC_MODES, TRAFFIC_RULES, type TrafficMode, type TrafficRule, type TrafficSettings } from "../../lib/traffic-rules.ts";

const mode = v.picklist(TRAFFIC_MODES, "must be off, flag or unpaid");
const count = (most: number) =>
	v.pipe(
		v.number("must be a whole number"),
		v.integer("must be a whole number"),
		v.minValue(1, "must be at least 1"),
		v.maxValue(most, `must be at most ${most}`),
	);
const asn = v.pipe(v.number("must be an AS number"), v.integer("must be an AS number"), v.minValue(0), v.maxValue(0xffff_ffff));
const MODE_OR_OBJECT = "must be off, flag or unpaid, or an object with a mode";

/** This many of two hours the consumer reads; who wants more switches `velocity` off. */
const MAX_PER_HOUR = 2_000;
/** Of networks only sums are kept. */
const MAX_NETWORK_PER_HOUR = 1_000_000;

/** Thresholds that some rules have beside their mode. */
const THRESHOLDS = {
	repeat: { minutes: v.optional(count(1_440)) },
	velocity: {
		visitor_per_hour: v.optional(count(MAX_PER_HOUR)),
		address_per_hour: v.optional(count(MAX_PER_HOUR)),
		network_per_hour: v.optional(count(MAX_NETWORK_PER_HOUR)),
	},
	data_centre: {
		asns: v.optional(listOfAtMost(asn, 1_000, "must have at most 1000 entries")),
		use_default_list: v.optional(v.boolean("must be true or false")),
	},
} as const;

const plainRule = v.union([mode, notAList(v.strictObject({ mode }))], MODE_OR_OBJECT);
const plainRules = Object.fromEntries(
	TRAFFIC_RULES.filter((rule) => !Object.hasOwn(THRESHOLDS, rule)).map((rule) => [rule, v.optional(plainRule)]),
) as Record<Exclude<TrafficRule, keyof typeof THRESHOLDS>, v.OptionalSchema<typeof plainRule, undefined>>;

/** A closed object: a rule whose name is misspelt would silently not hold. */
export const trafficSchema = v.pipe(
	notAList(
		v.strictObject(
			{
				...plainRules,
				repeat: v.optional(v.union([mode, notAList(v.strictObject({ mode: v.optional(mode), ...THRESHOLDS.repeat }))], MODE_OR_OBJECT)),
				velocity: v.optional(v.union([mode, notAList(v.strictObject({ mode: v.optional(mode), ...THRESHOLDS.velocity }))], MODE_OR_OBJECT)),
				data_centre: v.optional(
					v.union([mode, notAList(v.strictObject({ mode: v.optional(mode), ...THRESHOLDS.data_centre }))], MODE_OR_OBJECT),
				),
			},
			`must be an object of rules: ${TRAFFIC_RULES.join(", ")}`,
		),
	),
	v.transform((file): TrafficSettings => {
		const modes: Partial<Record<TrafficRule, TrafficMode>> = {};
		for (const rule of TRAFFIC_RULES) {
			const set = file[rule];
			const given = typeof set === "object" ? set.mode : set;
			if (given !== undefined) modes[rule] = given;
		}
		const { repeat, velocity, data_centre: dataCentre } = file;
		return {
			...(Object.keys(modes).length > 0 && { modes }),
			...(typeof repeat === "object" && repeat.minutes !== undefined && { repeatMinutes: repeat.minutes }),
			...(typeof velocity === "object" && velocity.visitor_per_hour !== undefined && { visitorPerHour: velocity.visitor_per_hour }),
			...(typeof velocity === "object" && velocity.address_per_hour !== undefined && { addressPerHour: velocity.address_per_hour }),
			...(typeof velocity === "object" && velocity.network_per_hour !== undefined && { networkPerHour: velocity.network_per_hour }),
			...(typeof dataCentre === "object" && dataCentre.asns !== undefined && { asns: dataCentre.asns }),
			...(typeof dataCentre === "object" && dataCentre.use_default_list !== undefined && { useDefaultList: dataCentre.use_default_list }),
		};
	}),
);
