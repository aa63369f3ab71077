import type { Fault } from "../fault.ts";

/** What every part stands on. */
export const LIB_FAULTS: readonly Fault[] = [
	{
		name: "prices-are-cut-not-rounded",
		file: "src/lib/money.ts",
		find: "epcMicros * sharePpm + unit / 2",
		replace: "epcMicros * sharePpm",
		tests: ["test/unit/lib/money.test.ts"],
	},
	{
		name: "decimals-past-the-last-place-are-dropped",
		file: "src/lib/money.ts",
		find: "if (/[1-9]/.test(fraction.slice(digits))) return null;",
		replace: "",
		tests: ["test/unit/lib/money.test.ts"],
	},
	{
		name: "host-that-ends-alike-is-a-subdomain",
		file: "src/lib/host.ts",
		find: "host.charCodeAt(host.length - domain.length - 1) === 46",
		replace: "true",
		tests: ["test/unit/lib/host.test.ts"],
	},
	{
		name: "addresses-with-credentials-have-a-host",
		file: "src/lib/host.ts",
		find: ' || parsed.username !== "" || parsed.password !== ""',
		replace: "",
		tests: ["test/unit/lib/host.test.ts", "test/unit/lib/web-address.test.ts", "test/unit/bidding/auction-deeplink.test.ts"],
	},
	{
		name: "keywords-are-normalised-once",
		file: "src/lib/keyword.ts",
		find: '.toLowerCase().normalize("NFKC")',
		replace: ".toLowerCase()",
		tests: ["test/unit/lib/keyword.test.ts"],
	},
	{
		name: "zones-of-half-an-hour-change-late",
		file: "src/lib/time.ts",
		find: "QUARTER_MS = 15 * MINUTE_MS",
		replace: "QUARTER_MS = 60 * MINUTE_MS",
		tests: ["test/unit/lib/time.test.ts"],
	},
	{
		name: "last-of-a-repeated-parameter-counts",
		file: "src/lib/query.ts",
		find: "this.#names.indexOf(name)",
		replace: "this.#names.lastIndexOf(name)",
		tests: ["test/unit/lib/query.test.ts"],
	},
	{
		name: "part-of-a-list-is-longer-than-allowed",
		file: "src/lib/split-by-bytes.ts",
		find: "if (length + size > most)",
		replace: "if (length > most)",
		tests: ["test/unit/lib/split-by-bytes.test.ts"],
	},
];
