import * as v from "valibot";
import { type Example, FORM_TYPES, type Operation, type Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { dayBefore, OTHER_METHOD } from "./shapes.ts";

const text = v.string();

const postbackAnswerSchema = named(
	"PostbackAnswer",
	v.union([
		named("PostbackReceived", v.strictObject({ message: v.literal("Postback received successfully") })),
		named(
			"PostbackInvalid",
			v.strictObject({
				message: v.literal("The given data was invalid."),
				errors: v.record(v.string(), v.array(v.string())),
				error_code: v.literal(1),
			}),
		),
		named("PostbackFailed", v.strictObject({ message: v.literal("something went wrong"), error_code: v.literal(2) })),
	]),
);

const fields = {
	txnid: v.pipe(text, v.description("Your transaction id; sending it again changes the same conversion.")),
	cid: v.pipe(text, v.description("The 32-character click hash of the outbound click.")),
	edate: v.pipe(text, v.description("Date, datetime (UTC without an offset) or Unix time in seconds or milliseconds.")),
	payout: v.pipe(text, v.description("Commission.")),
	sales: v.optional(v.pipe(text, v.description("Order value."))),
	currency: v.optional(v.pipe(text, v.description("Default: what the platform's was when the conversion was first reported."))),
	status: v.optional(
		v.pipe(
			text,
			v.description("In the network's own words; absent counts as approved, an unknown one, or a placeholder left in, as pending."),
		),
	),
	s2: v.optional(v.pipe(text, v.description("Extra sub id."))),
	s3: v.optional(v.pipe(text, v.description("Another one."))),
	surl: v.optional(v.pipe(text, v.description("Event source or landing URL."))),
};

const ACCESS_KEY: Parameter = { in: "path", name: "access_key", description: "The platform's key.", schema: text };
/** What is required, with an example of each. */
const REQUIRED: Record<string, Example> = {
	txnid: "T-1001",
	cid: "0123456789abcdef0123456789abcdef",
	edate: dayBefore(0),
	payout: "12.34",
};

const shared = {
	path: "/api/postback/{access_key}",
	tag: "Postbacks",
	host: "base",
	answers: {
		200: { description: "Read `message` and `error_code`: the status is always 200.", content: { schema: postbackAnswerSchema } },
		405: OTHER_METHOD,
	},
} as const;

export const POSTBACK_OPERATIONS: readonly Operation[] = [
	{
		...shared,
		method: "get",
		id: "receivePostback",
		summary: "Report a conversion",
		description: "A parameter that is empty, or a macro that nobody filled in, counts as absent.",
		parameters: [
			ACCESS_KEY,
			...Object.entries(fields).map(([name, schema]): Parameter => {
				const described: v.GenericSchema = schema.type === "optional" ? schema.wrapped : schema;
				const example = REQUIRED[name];
				return {
					in: "query",
					name,
					required: example !== undefined,
					description: v.getDescription(described) ?? "",
					schema: text,
					...(example !== undefined && { example }),
				};
			}),
		],
	},
	{
		...shared,
		method: "post",
		id: "receivePostbackForm",
		summary: "Report a conversion by form",
		description: "Fields may stand in the query, the form, or both.",
		parameters: [ACCESS_KEY],
		body: { required: false, contents: FORM_TYPES.map((type) => ({ schema: v.object(fields), type })) },
	},
];
