import type { Fault } from "../fault.ts";

const RULES = ["test/unit/privacy/privacy-of.test.ts"];
const STRINGS = ["test/unit/privacy/consent-strings.test.ts"];
const KEPT = ["test/worker/privacy.test.ts"];
const LAID = ["test/unit/bidding/lay-options.test.ts"];
const GOLDEN = ["test/worker/golden-bids.test.ts"];
const ERASE = ["test/worker/erase.test.ts"];
const BESIDE = ["test/worker/erase-beside-settling.test.ts"];

const PRIVACY_OF = "src/privacy/privacy-of.ts";
const SIGNALS = "src/privacy/signals.ts";
const TCF = "src/privacy/tcf.ts";
const GPP = "src/privacy/gpp.ts";
const OPTIONS = "src/bidding/lay-options.ts";
const CATEGORIES = "src/bidding/categories.ts";
const READ_OPTIONS = "src/openrtb/read-options.ts";
const REFUSE = "src/bidding/refuse.ts";

/** Privacy signals, erasing, and what publishers have read beyond the interface. */
export const PRIVACY_FAULTS: readonly Fault[] = [
	{
		name: "signals-that-cannot-be-read-say-nothing",
		file: PRIVACY_OF,
		find: "saysNo: ({ unreadable }) => unreadable",
		replace: "saysNo: () => false",
		tests: RULES,
	},
	{
		name: "consent-that-cannot-be-read-allows",
		file: PRIVACY_OF,
		find: "if (error instanceof MalformedError) return false;",
		replace: "if (error instanceof MalformedError) return true;",
		tests: RULES,
	},
	{
		name: "gdpr-without-consent-allows",
		file: PRIVACY_OF,
		find: "if (applies === true && strings.length === 0) return true;",
		replace: "",
		tests: RULES,
	},
	{
		name: "consent-counts-only-where-gdpr-is-said-to-apply",
		file: PRIVACY_OF,
		find: "|| applies === false));",
		replace: "|| applies !== true));",
		tests: RULES,
	},
	{
		name: "missing-gpp-section-allows",
		file: PRIVACY_OF,
		find: "usPrivacy.length > 0)) return true;",
		replace: "usPrivacy.length > 0)) continue;",
		tests: RULES,
	},
	{
		name: "of-contradicting-places-the-first-counts",
		file: SIGNALS,
		find: 'word === "true") flag = true;',
		replace: 'word === "true") flag ??= true;',
		tests: RULES,
	},
	{
		name: "flag-of-no-such-value-is-a-no",
		file: SIGNALS,
		find: "else this.unreadable = true;\n\t\t}\n\t\treturn flag;",
		replace: "else flag ??= false;\n\t\t}\n\t\treturn flag;",
		tests: RULES,
	},
	{
		name: "do-not-track-is-not-read",
		file: "src/openrtb/read-privacy.ts",
		find: "limited: [lmt, dnt, own.gpc",
		replace: "limited: [lmt, own.gpc",
		tests: RULES,
	},
	{
		name: "consent-of-the-extension-is-not-read",
		file: "src/openrtb/read-privacy.ts",
		find: "consents: [consent, object(ext).consent]",
		replace: "consents: [consent]",
		tests: RULES,
	},
	{
		name: "device-that-is-no-object-says-nothing",
		file: "src/openrtb/read-privacy.ts",
		find: "isReadAs(body.device, device) && ",
		replace: "",
		tests: RULES,
	},
	{
		name: "user-that-is-no-object-says-nothing-beside-other-signals",
		file: "src/openrtb/read-privacy.ts",
		find: "body.device, body.user, ext]",
		replace: "body.device, ext]",
		tests: RULES,
	},
	{
		name: "extension-of-the-user-that-is-no-object-says-nothing",
		file: "src/openrtb/read-privacy.ts",
		find: "body.device, body.user, ext]",
		replace: "body.device, body.user]",
		tests: RULES,
	},
	{
		name: "header-sec-gpc-is-not-read-beside-a-query",
		file: "src/privacy/query-signals.ts",
		find: '["1", ...read("lmt")]',
		replace: 'read("lmt")',
		tests: RULES,
	},
	{
		name: "header-sec-gpc-that-is-no-one-says-nothing",
		file: "src/privacy/query-signals.ts",
		find: 'part !== "" && part !== "0"',
		replace: 'part === "1"',
		tests: RULES,
	},
	{
		name: "header-sec-gpc-that-was-sent-twice-says-nothing",
		file: "src/privacy/query-signals.ts",
		find: 'gpc !== null && gpc !== "0" && refusesSale(gpc)',
		replace: 'gpc?.trim() === "1"',
		tests: RULES,
	},
	{
		name: "purpose-seven-needs-no-consent",
		file: TCF,
		find: "PURPOSES_USED = [1, 2, 7]",
		replace: "PURPOSES_USED = [1, 2]",
		tests: STRINGS,
	},
	{
		name: "legitimate-interest-is-a-consent",
		file: TCF,
		find: "\tconst consents = bits.take(PURPOSES_BITS);\n\tbits.skip(PURPOSES_BITS + AFTER_PURPOSES_BITS);",
		replace: "\tconst consents = bits.take(PURPOSES_BITS) | bits.take(PURPOSES_BITS);\n\tbits.skip(AFTER_PURPOSES_BITS);",
		tests: STRINGS,
	},
	{
		name: "last-vendor-of-a-range-has-no-consent",
		file: TCF,
		find: "vendorId <= last;",
		replace: "vendorId < last;",
		tests: STRINGS,
	},
	{
		name: "restrictions-of-publishers-are-passed-over",
		file: TCF,
		find: "&& isVendorAllowed && !isRestricted",
		replace: "&& isVendorAllowed",
		tests: STRINGS,
	},
	{
		name: "unknown-gpp-section-allows",
		file: GPP,
		find: "if (layouts === undefined) return false;",
		replace: "if (layouts === undefined) return true;",
		tests: [...STRINGS, ...RULES],
	},
	{
		name: "uses-beyond-what-a-state-was-told-need-no-consent",
		file: "src/privacy/us-sections.ts",
		find: "[27, state(24, [20, 22], 16)]",
		replace: "[27, state(24, [20], 16)]",
		tests: STRINGS,
	},
	{
		name: "gpc-of-a-state-is-passed-over",
		file: GPP,
		find: "!saysNo.includes(true) && !hasGpc.includes(true)",
		replace: "!saysNo.includes(true)",
		tests: STRINGS,
	},
	{
		name: "stripped-link-has-the-address",
		file: "src/bidding/mint-click-url.ts",
		find: "ip: stripped || details.ip === null",
		replace: "ip: details.ip === null",
		tests: KEPT,
	},
	{
		name: "stripped-link-has-the-users-id",
		file: "src/bidding/openrtb-route.ts",
		find: "bid.stripped ? bidRequest.publisherClickId : bidRequest.clickId",
		replace: "bidRequest.clickId",
		tests: KEPT,
	},
	{
		name: "stripped-click-has-its-device",
		file: "src/clicks/record-click.ts",
		find: "if (stripped === null) {",
		replace: "if (stripped !== undefined) {",
		tests: KEPT,
	},
	{
		name: "refused-bid-is-made-where-none-is-wanted",
		file: "src/bidding/auction.ts",
		find: 'if (treatment === "no_bid") return noBid("privacy_refused");',
		replace: "",
		tests: ["test/unit/bidding/auction.test.ts", ...KEPT],
	},
	{
		name: "erased-conversion-has-its-page",
		file: "src/operator/erase/erase-rows.ts",
		find: "s2 = NULL, s3 = NULL, surl = NULL, cid",
		replace: "s2 = NULL, s3 = NULL, cid",
		tests: ERASE,
	},
	{
		name: "erasing-takes-the-sources-of-a-postback-for-money",
		file: "src/operator/erase/redact.ts",
		find: '"payout", "sales", "currency"',
		replace: '"payout", "s2", "sales", "currency"',
		tests: ERASE,
	},
	{
		name: "erasing-overwrites-what-was-settled-meanwhile",
		file: "src/operator/erase/erase-rows.ts",
		find: "version = CASE WHEN version = r.of_version THEN version + 1 END\n\t\t\tFROM (SELECT value ->> 'platform'",
		replace: "version = version + 1\n\t\t\tFROM (SELECT value ->> 'platform'",
		tests: BESIDE,
	},
	{
		name: "erasing-misses-a-conversion-that-came-meanwhile",
		file: "src/operator/erase/erase-rows.ts",
		find: "sql`UPDATE conversions SET version = NULL WHERE ${ofClicks} AND NOT ${ofNamed}`,",
		replace: "",
		tests: BESIDE,
	},
	{
		name: "erasing-misses-a-postback-that-came-meanwhile",
		file: "src/operator/erase/erase-rows.ts",
		find: "SET answer = NULL WHERE id IN",
		replace: "SET answer = answer WHERE id IN",
		tests: BESIDE,
	},
	{
		name: "options-are-read-where-nobody-wants-them",
		file: OPTIONS,
		find: "if (options.keywords === true && request.search === null)",
		replace: "if (request.search === null)",
		tests: LAID,
	},
	{
		name: "one-right-chain-of-two-is-enough",
		file: OPTIONS,
		find: "\t}\n\treturn null;\n}\n\nfunction isParty",
		replace: "\t\telse return null;\n\t}\n\treturn null;\n}\n\nfunction isParty",
		tests: GOLDEN,
	},
	{
		name: "any-seller-of-a-party-is-accepted",
		file: OPTIONS,
		find: "(party.sid === undefined || party.sid === sid)",
		replace: "true",
		tests: GOLDEN,
	},
	{
		name: "imp-exp-is-read-where-nobody-wants-it",
		file: OPTIONS,
		find: "publisher.openRtb?.exp === true ? ",
		replace: "publisher.openRtb?.exp !== false ? ",
		tests: LAID,
	},
	{
		name: "blocking-a-category-leaves-those-below-it",
		file: CATEGORIES,
		find: 'name.startsWith("IAB") && names.has(name.slice(0, at))',
		replace: "false",
		tests: GOLDEN,
	},
	{
		name: "brand-without-categories-is-of-allowed-ones",
		file: CATEGORIES,
		find: "rule.allowed === null || isOfAny",
		replace: "true || isOfAny",
		tests: GOLDEN,
	},
	{
		name: "cattax-that-cannot-be-read-is-one-that-no-brand-has",
		file: READ_OPTIONS,
		find: "Number.isInteger(taxonomy) ? taxonomy : FIRST_TAXONOMY",
		replace: "Number.isInteger(taxonomy) ? taxonomy : 0",
		tests: LAID,
	},
	{
		name: "cattax-between-two-taxonomies-is-one",
		file: READ_OPTIONS,
		find: "taxonomy !== null && Number.isInteger(taxonomy)",
		replace: "taxonomy !== null",
		tests: LAID,
	},
	{
		name: "incomplete-chain-is-complete",
		file: READ_OPTIONS,
		find: "complete: isTrue(chain.complete)",
		replace: "complete: chain.complete !== undefined",
		tests: GOLDEN,
	},
	{
		name: "codes-of-no-bids-are-told-of-live-auctions",
		file: REFUSE,
		find: 'isTest ? headers.get("accesskey") : null',
		replace: 'headers.get("accesskey")',
		tests: GOLDEN,
	},
	{
		name: "codes-of-no-bids-are-told-to-other-keys",
		file: REFUSE,
		find: "equalTexts(h, hash) && ",
		replace: "h.length === hash.length && ",
		tests: GOLDEN,
	},
	{
		name: "codes-of-no-bids-are-told-to-keys-that-ended",
		file: REFUSE,
		find: " && (u === undefined || now < u)",
		replace: "",
		tests: ["test/worker/told-codes.test.ts"],
	},
	{
		name: "whole-list-of-keywords-is-not-tried",
		file: "src/lib/keyword.ts",
		find: "if (whole !== null) found.add(whole);\n\t\tconst isList",
		replace: 'if (whole !== null && !list.includes(",")) found.add(whole);\n\t\tconst isList',
		tests: ["test/unit/bidding/keywords.test.ts", ...GOLDEN],
	},
	{
		name: "private-auction-is-bid-on",
		file: "src/openrtb/read-request.ts",
		find: "privateAuction: isTrue(object(imp.pmp).private_auction)",
		replace: "privateAuction: false && isTrue(object(imp.pmp).private_auction)",
		tests: GOLDEN,
	},
];
