/** Answer of POST /api/links. */
import * as v from "valibot";
import { usd } from "../lib/shapes.ts";
import { NO_LINK_REASONS, type NoLinkReason } from "./choose-link.ts";

const url = v.pipe(v.string(), v.description("As it was sent."));

const linkSchema = v.strictObject({
	url,
	link: v.pipe(
		v.string(),
		v.description("Tracking link to the page; without a `clickid` in the request it has the placeholder `{clickid}`."),
	),
	brand: v.pipe(v.string(), v.description("Domain.")),
	price: v.pipe(usd, v.description("What the click itself would pay or promise now.")),
});

const noLinkSchema = v.strictObject({ url, reason: v.picklist(Object.keys(NO_LINK_REASONS) as NoLinkReason[]) });

export const linksSchema = v.strictObject({
	data: v.pipe(v.array(v.union([linkSchema, noLinkSchema])), v.description("One an address, in the order asked.")),
});

export type Links = v.InferOutput<typeof linksSchema>;
