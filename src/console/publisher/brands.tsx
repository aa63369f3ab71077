/** The brands that a publisher may promote, and each one's offers. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { RESTRICTED_TRAFFIC, TRAFFIC_TYPES } from "../../lib/enums.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import type { PublisherBrand } from "../../publisher-api/brands-answer.ts";
import { readBrandsQuery } from "../../publisher-api/brands-request.ts";
import { readBrands } from "../../publisher-api/read-brands.ts";
import { page, view } from "../page.ts";
import { addressOf } from "../ui/address.ts";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Facts, Table } from "../ui/table.tsx";
import { Money, State, Time } from "../ui/values.tsx";
import { found, ownPublisher } from "./own-publisher.ts";

const PATH = "/console/brands";

type Offer = PublisherBrand["offers"][number];

const choices = (names: readonly string[]) => names.map((value) => ({ value, label: value }));

const COLUMNS: readonly Column<PublisherBrand>[] = [
	{ head: "Brand", cell: ({ domain, name }) => <a href={`${PATH}/${segmentOf(domain)}`}>{name || domain}</a> },
	{ head: "Domain", cell: ({ domain }) => domain },
	{ head: "Category", cell: ({ category }) => category },
	{ head: "Countries", cell: ({ offers }) => offers.map(({ country }) => country).join(", ") },
	{ head: "A click, at most", kind: "money", cell: ({ offers }) => <Money usd={highest(offers)} /> },
	{ head: "Ruled out", cell: ({ restricted_traffic }) => restricted_traffic.join(", ") },
	{ head: "New", cell: ({ new_deal }) => (new_deal ? <State word="new" /> : null) },
];

export const BRANDS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst", active: true },
		title: "Brands",
		async handle({ deps, publisher, query }) {
			const { data, next_cursor } = found(await readBrands(deps.publisherApi, await ownPublisher(deps, publisher), readBrandsQuery(query)));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "q", label: "Name or domain" },
							{ kind: "text", name: "category", label: "Category" },
							{ kind: "text", name: "country", label: "Country", hint: "Such as US" },
							{ kind: "choice", name: "traffic_type", label: "Takes traffic of", choices: choices(TRAFFIC_TYPES) },
							{ kind: "choice", name: "allows", label: "Does not rule out", choices: choices(RESTRICTED_TRAFFIC) },
							{ kind: "text", name: "min_price", label: "A click, at least", hint: "USD, such as 0.05" },
							{
								kind: "choice",
								name: "new_deal",
								label: "New",
								choices: [
									{ value: "1", label: "new ones" },
									{ value: "0", label: "others" },
								],
							},
							{ kind: "date", name: "updated_since", label: "Changed since" },
						]}
					/>
					<Table
						caption="Brands that you may promote"
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="No brand was found">
								<p>Ask for fewer conditions at once.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: `${PATH}/:domain`,
		needs: { publisher: "analyst", active: true },
		title: "Brand",
		async handle({ deps, publisher, param }) {
			const domain = param("domain");
			const { data } = found(await readBrands(deps.publisherApi, await ownPublisher(deps, publisher), readBrandsQuery({ domain })));
			const brand = found(data[0] ?? null);
			return view({ title: brand.name || brand.domain }, <Brand brand={brand} />);
		},
	}),
];

function highest(offers: readonly Offer[]): string | null {
	return offers.map(({ price }) => price).sort((one, other) => Number(other) - Number(one))[0] ?? null;
}

const OFFER_COLUMNS: readonly Column<Offer>[] = [
	{ head: "Country", cell: ({ country }) => country },
	{ head: "A click now", kind: "money", cell: ({ price }) => <Money usd={price} /> },
	{ head: "State", cell: ({ available }) => <State word={available ? "live" : "paused"} /> },
	{
		head: "Commission",
		cell: ({ commission_rate, flat_fee, rate_type }) =>
			[commission_rate, flat_fee === undefined ? null : `${flat_fee} USD`, rate_type].filter((part) => part !== null).join(" "),
	},
	{
		head: "Links",
		cell: ({ homepage, deeplinks }) =>
			[homepage ? "homepage" : null, deeplinks ? "pages" : null].filter((part) => part !== null).join(" and ") || "none",
	},
];

function Brand({ brand }: { brand: PublisherBrand }): JSX.Element {
	const { domain, name, category, offer_id, restricted_traffic, traffic_types, new_deal, last_updated_date, offers } = brand;
	return (
		<>
			<Facts
				facts={[
					["Name", name],
					["Domain", domain],
					["Category", category],
					["Offer id", offer_id],
					["Takes traffic of", traffic_types.join(", ")],
					["Rules out", restricted_traffic.join(", ") || "nothing"],
					["New", new_deal ? "yes" : null],
					["Changed on", last_updated_date === null ? null : <Time at={last_updated_date} date />],
				]}
			/>
			<Table caption={`Offers of ${domain}`} columns={OFFER_COLUMNS} rows={offers} empty={<Empty title="It has no offer for you now" />} />
			<p>
				<a href={addressOf("/console/links", { urls: `https://${domain}/` })}>Make a link</a> ·{" "}
				<a href={addressOf("/console/products", { domain })}>Its products</a>
			</p>
		</>
	);
}
