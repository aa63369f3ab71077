/** The answer to POST /operator/explain, as far as the CLI reads it. */
import * as v from "valibot";

export const explanationSchema = v.object({
	endpoint: v.string(),
	decision: v.looseObject({ outcome: v.string() }),
	candidates: v.array(
		v.looseObject({
			domain: v.string(),
			campaign_id: v.number(),
			link: v.string(),
			eligible: v.boolean(),
			explanation: v.string(),
			price: v.nullable(v.string()),
		}),
	),
});

export type Explanation = v.InferOutput<typeof explanationSchema>;
