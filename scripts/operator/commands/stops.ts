import * as v from "valibot";
import { canonicalCountry } from "../../../src/lib/country.ts";
import { canonicalHost } from "../../../src/lib/host.ts";
import { Failure } from "../../local/failure.ts";
import type { OperatorCommand } from "../command.ts";
import { fetchEntry, pathOf, sectionOf } from "../entries.ts";
import { type ChangeOptions, sendChange, withChangeOptions } from "../send-change.ts";

type BlockOptions = ChangeOptions & { publisher: string; country?: string };

const blocksSchema = v.array(v.object({ domain: v.string(), country: v.optional(v.string()) }));

/** `block`, `unblock`, `pause`, `resume` and `suspend`. */
export const command: OperatorCommand = {
	name: "stops",
	add(program) {
		for (const [name, description] of [
			["block", "keep a brand from a publisher, everywhere or in one country"],
			["unblock", "let a publisher have a brand again"],
		] as const) {
			withChangeOptions(program.command(name))
				.description(description)
				.argument("<brand>", "its domain")
				.requiredOption("--publisher <id>", "the publisher")
				.option("--country <code>", "in this country alone")
				.action((brand: string, options: BlockOptions) => block(brand, options, name === "block"));
		}
		for (const [name, description, isOn] of [
			["pause", "let a brand or campaign bid no more", false],
			["resume", "let a brand, campaign or publisher go on", true],
		] as const) {
			withChangeOptions(program.command(name))
				.description(description)
				.argument("<kind>", isOn ? "brand, campaign or publisher" : "brand or campaign")
				.argument("<id>", "its id; of a brand, its domain")
				.action((kind: string, id: string, options: ChangeOptions) => switchEntry(kind, id, isOn, options));
		}
		withChangeOptions(program.command("suspend"))
			.description("pay a publisher nothing from now on, and bid to it no more")
			.argument("<publisher>", "its id")
			.action((id: string, options: ChangeOptions) =>
				sendChange(pathOf("publishers", id), { status: "suspended" }, options, { method: "PATCH" }),
			);
	},
};

function switchEntry(kind: string, id: string, isOn: boolean, options: ChangeOptions): Promise<void> {
	const section = sectionOf(kind);
	if (section === "publishers" && isOn) return sendChange(pathOf(section, id), { status: "active" }, options, { method: "PATCH" });
	if (section === "brands" || section === "campaigns")
		return sendChange(pathOf(section, id), { active: isOn }, options, { method: "PATCH" });
	throw new Failure(
		section === "publishers" ? "A publisher is suspended: `suspend` does that." : "A platform can neither be paused nor resumed.",
	);
}

/** The list is changed as it was read, or not at all. */
async function block(brand: string, { publisher, country, ...options }: BlockOptions, isBlock: boolean): Promise<void> {
	const domain = canonicalHost(brand) ?? brand;
	const { entry, etag } = await fetchEntry("publishers", publisher, options);
	const blocks = v.parse(blocksSchema, entry.blocked_brands);
	const where = country === undefined ? undefined : canonicalCountry(country.trim().toUpperCase());
	const others = blocks.filter(
		(one) => one.domain !== domain || (isBlock ? one.country !== where : where !== undefined && one.country !== where),
	);
	const blocked_brands = isBlock ? [...others, { domain, ...(where !== undefined && { country: where }) }] : others;
	if (!isBlock && others.length === blocks.length)
		throw new Failure(`${publisher} has no such block of ${domain}: \`show publisher ${publisher}\` lists them.`);
	await sendChange(pathOf("publishers", publisher), { blocked_brands }, options, { method: "PATCH", ifMatch: etag });
}
