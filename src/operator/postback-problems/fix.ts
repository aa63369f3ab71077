/** What mends a problem with postbacks, in words: pure. */
import { shellWord } from "../../lib/shell-word.ts";
import type { Cause, ProblemCause } from "./classify.ts";
import type { NetworkMacros } from "./network-macros.ts";

export type Fix = {
	text: string;
	/** What belongs into the platform's postback address for the field; null where that is not known, or is not it. */
	macro: string | null;
	/** Where the macro was found. */
	source: string | null;
	/** The operator's command that is of use. */
	command: string | null;
};

type Of = {
	platform: string | null;
	network: NetworkMacros | null;
	/** Where one postback has several, all its fields under other names: it is taken only once each is mapped. */
	misnamed?: readonly Pick<Cause, "field" | "sent">[] | undefined;
};
type Mending = { text: string; command?: string };

const MENDING: Readonly<Record<ProblemCause, (cause: Cause, of: Of) => Mending>> = {
	placeholder: ({ field, sent }, { network }) => ({
		text: `The platform does not fill in ${sent} for ${field}: it does not know the macro, or has no value for it.${askFor(network)} What was sent so must be sent again.`,
		command: "postback-url PLATFORM",
	}),
	misnamed: ({ field, sent }, { misnamed = [{ field, sent }] }) => ({
		text: `${field} seems to come as ${sent}: give the platform its address again, then replay what came with that mapping.`,
		command: `postback-problems replay PLATFORM${misnamed.map((one) => ` --map ${shellWord(`${one.field}=${one.sent}`)}`).join("")}`,
	}),
	missing: ({ field }, { network }) => ({
		text: `The postback has no ${field}.${askFor(network)} What was sent so must be sent again.`,
		command: "postback-url PLATFORM",
	}),
	transaction_id_form: () => ({ text: "The transaction id is longer than 255 characters, or holds control characters." }),
	click_id_form: ({ sent }) => ({
		text: `${sent ?? "What comes as cid"} has not the form of a click hash (32 hex characters), and no click has it as its publisher's click id: the network's link must take {click_id}, and the postback give it back.`,
		command: "postback-url PLATFORM",
	}),
	date_form: ({ sent }) => ({
		text: `${sent} is read as no date: 2026-11-10, 2026-11-10T12:34:56Z, Unix seconds or milliseconds are. What came can be replayed with the time at which it came.`,
		command: "postback-problems replay PLATFORM --map edate=@received_at",
	}),
	date_out_of_range: ({ sent }) => ({
		text: `${sent} is before 2000, or more than a day ahead: the platform's clock or time zone is wrong.`,
		command: "postback-problems replay PLATFORM --map edate=@received_at",
	}),
	amount_form: ({ sent }) => ({
		text: `${sent} has no one reading as an amount: a plain decimal with a point is asked for, without thousands separators or currency signs. What was sent so must be sent again.`,
	}),
	amount_out_of_range: ({ sent }) => ({
		text: `${sent} is more than the nine billion that a postback may say: the platform's amount is wrong, or in a smaller unit. What was sent so must be sent again.`,
	}),
	signature: () => ({
		text: "The signature is missing or wrong: compare the platform's secret with postback_secret. What came can be replayed once it verifies.",
		command: "postback-problems replay PLATFORM",
	}),
	sender_address: () => ({ text: "It came from an address outside source_ranges: add the platform's addresses, and have it sent again." }),
	too_large: () => ({ text: "Query or body exceed 16 KB." }),
	unknown_key: () => ({
		text: "The key in the address is no platform's, or has ended: give the platform its address with a new key, and have it sent again.",
		command: "postback-url PLATFORM --issue",
	}),
	over_rate: () => ({
		text: "More came than the platform's postbacks_per_minute, or it could not be stored: the platform was told to send it again. What was kept can be replayed.",
		command: "postback-problems replay PLATFORM",
	}),
	no_click: () => ({
		text: "No click has this hash: it never reached us, or another parameter of the network's link took it. Attach it by hand where you know the click.",
		command: "conversions list --reason no_click --platform PLATFORM",
	}),
	other_platform: () => ({
		text: "The click is ours, of a brand that another platform pays for: the platform's id in the campaign is wrong, or a key went to the wrong platform.",
		command: "conversions list --reason other_platform --platform PLATFORM",
	}),
	ambiguous: () => ({
		text: "Several clicks, or two publishers, have this publisher's click id, or had it before one was erased: send {click_id} through the network, and attach these by hand.",
		command: "conversions list --reason ambiguous --platform PLATFORM",
	}),
	no_publisher: () => ({
		text: "The click is of a publisher that is no more.",
		command: "conversions list --reason no_publisher --platform PLATFORM",
	}),
	older_than_retention: () => ({
		text: "The event is older than clicks are kept: its click may have been removed.",
		command: "conversions list --reason no_click --platform PLATFORM",
	}),
	unknown_status: ({ sent }) => ({
		text: `Put ${JSON.stringify(sent)} into the platform's status_map, for what comes from then on. What has come is settled by a newer statement of the platform, since one that was applied changes nothing again, or by being sent again.`,
		command: "reconcile STATEMENT --platform PLATFORM",
	}),
	no_rate: ({ sent }) => ({
		text: `Import the exchange rate of ${sent} for the days of the events.`,
		command: "conversions list --reason no_rate --platform PLATFORM",
	}),
	unknown_currency: ({ sent }, { network }) => ({
		text: `${sent} is no currency, and no day has an exchange rate of it.${askFor(network)}`,
		command: "postback-url PLATFORM",
	}),
	amount: () => ({
		text: "The payout is above max_payout of platform or campaign: release it, or void it. A raised max_payout holds for what comes from then on, also where it is sent again.",
		command: "conversions list --reason amount --platform PLATFORM",
	}),
	review: () => ({
		text: "Nobody saw the click: release it, or void it.",
		command: "conversions list --reason review --platform PLATFORM",
	}),
	publisher_suspended: () => ({
		text: "The publisher is suspended: it is settled once the publisher is active again.",
		command: "conversions list --reason publisher_suspended --platform PLATFORM",
	}),
};

/** Causes that another macro in the platform's address mends. */
const OF_MACROS: ReadonlySet<ProblemCause> = new Set([
	"placeholder",
	"missing",
	"misnamed",
	"click_id_form",
	"date_form",
	"unknown_currency",
]);

export function fixOf(cause: Cause, of: Of): Fix {
	const { text, command } = MENDING[cause.cause](cause, of);
	const macro = OF_MACROS.has(cause.cause) && cause.field !== null ? (of.network?.macros?.[cause.field] ?? null) : null;
	const belongs = macro === null ? "" : ` ${of.network?.name}'s macro for it is ${macro}.`;
	return {
		text: `${text}${belongs}`,
		macro,
		source: macro === null ? null : (of.network?.source ?? null),
		command:
			command === undefined ? null : `npm run operator -- ${command.replace("PLATFORM", () => shellWord(of.platform ?? "PLATFORM"))}`,
	};
}

function askFor(network: NetworkMacros | null): string {
	if (network === null) return " Ask the platform for its macro.";
	return network.macros === null ? ` ${network.name} sends no postbacks that we know of: reconcile its statements.` : "";
}
