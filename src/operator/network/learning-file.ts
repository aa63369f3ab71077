/** `epc_learning` of the network file: how prices are learned, as the network, a publisher, a campaign or a platform sets it. */
import * as v from "valibot";
import { curveFault, LAST_LAG, type StatedCurve } from "../../learning/delay-curve.ts";
import { LEARNING_MODES } from "../../learning/modes.ts";
import { MAX_REVERSED } from "../../learning/platform-delays.ts";
import {
	type CampaignLearning,
	type NetworkLearning,
	networkSettings,
	type PlatformLearning,
	type PublisherLearning,
} from "../../learning/policy.ts";
import type { Kappa } from "../../learning/settings.ts";
import { formatUsd, MICROS_PER_USD, parseMicros } from "../../lib/money.ts";
import { listOfAtMost, notAList } from "../../lib/shapes.ts";

const MAX_POINTS = 50;
const MAX_ALLOWANCE_USD = 1_000_000;

const mode = v.optional(v.picklist(LEARNING_MODES, `must be one of ${LEARNING_MODES.join(", ")}`));

function between(least: number, most: number) {
	const message = `must be a number from ${least} to ${most}`;
	return v.optional(v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message)));
}

const allowance = v.optional(
	v.pipe(
		v.string('must be a decimal string such as "15.00"'),
		v.transform((value) => parseMicros(value) ?? Number.NaN),
		v.number("must be a decimal with at most six places"),
		v.minValue(0, "must not be negative"),
		v.maxValue(MAX_ALLOWANCE_USD * MICROS_PER_USD, `must be at most ${MAX_ALLOWANCE_USD}.00`),
	),
);

const weight = between(0.1, 10_000);
const CAMPAIGN_KAPPA = { campaign: weight, keyword: weight, campaign_publisher: weight };

function kappaOf<const Entries extends v.ObjectEntries>(entries: Entries) {
	return v.optional(notAList(v.strictObject(entries, `must be an object of numbers: ${Object.keys(entries).join(", ")}`)));
}

/** Bounds of a campaign's own factor: 1, which says nothing, always lies between them. */
const BOUNDS = { lowest_factor: between(0.01, 1), highest_factor: between(1, 100) };

/** A closed object: a setting whose name is misspelt would silently not hold. */
function settingsOf<const Entries extends v.ObjectEntries>(entries: Entries) {
	return notAList(v.strictObject(entries, `must be an object of settings: ${Object.keys(entries).join(", ")}`));
}

/** Null where nothing is set. */
function orNothing<Settings extends object>(settings: Settings): Settings | null {
	return Object.keys(settings).length === 0 ? null : settings;
}

/** The fields that are there, by the names that they are stored under. */
function named<Stored extends object>(fields: { [Name in keyof Stored]: Stored[Name] | undefined }): Stored {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Stored;
}

type FileKappa = Partial<Record<keyof typeof CAMPAIGN_KAPPA | "publisher" | "source" | "link", number | undefined>>;

function readKappa(file: FileKappa | undefined): Partial<Kappa> | undefined {
	if (file === undefined) return undefined;
	const { campaign_publisher: campaignPublisher, ...rest } = file;
	return orNothing(named<Partial<Kappa>>({ ...rest, campaignPublisher } as Partial<Kappa>)) ?? undefined;
}

export const networkLearningSchema = v.pipe(
	settingsOf({
		mode,
		kappa: kappaOf({ ...CAMPAIGN_KAPPA, publisher: weight, source: weight, link: weight }),
		...BOUNDS,
		rise: between(1.01, 10),
		fall: between(0.05, 0.99),
		publish_step: between(0.001, 0.5),
		allowance,
		caution: between(0, 5),
		creep: between(0, 0.5),
	}),
	v.transform(({ kappa, lowest_factor, highest_factor, publish_step, allowance: allowanceMicros, ...rest }): NetworkLearning | null =>
		orNothing(
			named<NetworkLearning>({
				...rest,
				kappa: readKappa(kappa),
				lowestFactor: lowest_factor,
				highestFactor: highest_factor,
				publishStep: publish_step,
				allowanceMicros,
			} as NetworkLearning),
		),
	),
	v.check((stored) => {
		const { rise, fall, publishStep } = networkSettings(stored);
		return rise > 1 + publishStep && fall < 1 / (1 + publishStep);
	}, "publishes nothing: rise must be more than 1 + publish_step, and fall less than 1 / (1 + publish_step)"),
);

export const publisherLearningSchema = v.pipe(
	settingsOf({ mode }),
	v.transform((file): PublisherLearning | null => orNothing(named<PublisherLearning>(file as PublisherLearning))),
);

export const campaignLearningSchema = v.pipe(
	settingsOf({
		mode,
		pin: v.optional(v.boolean("must be true or false")),
		kappa: kappaOf(CAMPAIGN_KAPPA),
		...BOUNDS,
		allowance,
		creep: between(0, 0.5),
	}),
	v.transform(({ kappa, pin, lowest_factor, highest_factor, allowance: allowanceMicros, ...rest }): CampaignLearning | null =>
		orNothing(
			named<CampaignLearning>({
				...rest,
				pin: pin === true ? pin : undefined,
				kappa: readKappa(kappa),
				lowestFactor: lowest_factor,
				highestFactor: highest_factor,
				allowanceMicros,
			} as CampaignLearning),
		),
	),
);

const number = v.number("must be a number");

/** A stated curve. Of what is wrong with one, the first is told. @param faultOf what else may be wrong with a sound one */
function curveWith(faultOf: (stated: StatedCurve) => string | null) {
	return v.optional(
		v.pipe(
			listOfAtMost(
				notAList(v.strictObject({ days: number, part: number }, "must be an object of days and part")),
				MAX_POINTS,
				`must have at most ${MAX_POINTS} points`,
			),
			v.minLength(1, "must have at least one point"),
			v.rawCheck(({ dataset, addIssue }) => {
				if (dataset.issues !== undefined) return;
				const fault = spanFault(dataset.value) ?? curveFault(dataset.value) ?? faultOf(dataset.value);
				if (fault !== null) addIssue({ message: fault });
			}),
		),
	);
}

function spanFault(stated: StatedCurve): string | null {
	return (stated.at(-1)?.days ?? 0) > LAST_LAG ? `must end by day ${LAST_LAG}: what comes later is taken to have come by then` : null;
}

export const platformLearningSchema = v.pipe(
	settingsOf({
		arrivals: curveWith(([first]) => ((first?.part ?? 0) > 0 ? null : "must be above 0 from its first point on")),
		reversals: curveWith((stated) => ((stated.at(-1)?.part ?? 0) <= MAX_REVERSED ? null : `must be at most ${MAX_REVERSED}`)),
	}),
	v.transform((file): PlatformLearning | null => orNothing(named<PlatformLearning>(file as PlatformLearning))),
);

/** Settings of learning as the file has them. @param text JSON of what one of the schemas gives */
export function exportLearning(text: string | null): Readonly<Record<string, unknown>> | null {
	if (text === null) return null;
	const { kappa, lowestFactor, highestFactor, publishStep, allowanceMicros, ...rest } = JSON.parse(text) as NetworkLearning &
		CampaignLearning &
		PlatformLearning;
	const { campaignPublisher, ...weights } = (kappa ?? {}) as Partial<Kappa>;
	return {
		...rest,
		...(kappa !== undefined && {
			kappa: { ...weights, ...(campaignPublisher !== undefined && { campaign_publisher: campaignPublisher }) },
		}),
		...(lowestFactor !== undefined && { lowest_factor: lowestFactor }),
		...(highestFactor !== undefined && { highest_factor: highestFactor }),
		...(publishStep !== undefined && { publish_step: publishStep }),
		...(allowanceMicros !== undefined && { allowance: formatUsd(allowanceMicros) }),
	};
}

/** As it is stored. */
export function storeLearning(settings: object | null): string | null {
	return settings === null ? null : JSON.stringify(settings);
}
