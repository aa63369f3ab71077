/** Products of both catalogues, each with the publisher's link. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { counted } from "../../lib/counted.ts";
import { Query } from "../../lib/query.ts";
import { readAffiliateQuery, readMarketplaceQuery } from "../../products/read-query.ts";
import { searchAffiliateProducts } from "../../products/search-affiliate.ts";
import { searchSellerProducts } from "../../products/search-marketplace.ts";
import { page } from "../page.ts";
import { CopyText } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { Filters, Tabs } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { Table } from "../ui/table.tsx";
import { ownPublisher } from "./own-publisher.ts";

const PATH = "/console/products";
const CATALOGUES = [
	{ value: "affiliate", label: "Of brands" },
	{ value: "sellers", label: "Of marketplace sellers" },
];

const NOTHING = (
	<Empty title="No product was found">
		<p>Ask for fewer words, or in the other catalogue.</p>
	</Empty>
);

export const PRODUCTS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst", active: true },
		title: "Products",
		async handle({ deps, publisher, query }) {
			const isSellers = query.catalogue === "sellers";
			const asked = new Query(new URLSearchParams(query).toString());
			const isAsked = ["keyword", "q", "seller"].some((name) => (query[name] ?? "").trim() !== "");
			const owner = await ownPublisher(deps, publisher);
			return (
				<>
					<Tabs label="Catalogues" path={PATH} query={{}} name="catalogue" tabs={CATALOGUES.map((tab) => ({ ...tab }))} />
					<Filters
						path={PATH}
						query={query}
						kept={["catalogue"]}
						submit="Search"
						filters={
							isSellers
								? [
										{ kind: "text", name: "q", label: "Words" },
										{ kind: "text", name: "seller", label: "Seller" },
									]
								: [
										{ kind: "text", name: "keyword", label: "Words" },
										{ kind: "text", name: "domain", label: "Brand's domain" },
									]
						}
					/>
					{!isAsked ? (
						<Empty title="What are you looking for?">
							<p>Each product that is found comes with your link to it.</p>
						</Empty>
					) : isSellers ? (
						<Sellers
							query={query}
							answer={await searchSellerProducts(deps.searching, { publisher: owner, ...readMarketplaceQuery(asked) })}
						/>
					) : (
						<Affiliate answer={await searchAffiliateProducts(deps.searching, { publisher: owner, ...readAffiliateQuery(asked) })} />
					)}
				</>
			);
		},
	}),
];

type AffiliateAnswer = Awaited<ReturnType<typeof searchAffiliateProducts>>;
type SellersAnswer = Awaited<ReturnType<typeof searchSellerProducts>>;

function Affiliate({ answer: { results, keyword } }: { answer: AffiliateAnswer }): JSX.Element {
	return (
		<Table
			caption={`Products for “${keyword}”, the best match first`}
			columns={[
				{ head: "Product", cell: ({ name }) => name },
				{ head: "Brand", cell: ({ merchant }) => merchant.name },
				{ head: "Price", kind: "number", cell: ({ final_price, currency }) => `${final_price.toFixed(2)} ${currency}` },
				{
					head: "Before",
					kind: "number",
					cell: ({ on_sale, regular_price, currency }) => (on_sale ? `${regular_price.toFixed(2)} ${currency}` : null),
				},
				{ head: "Stock", cell: ({ availability }) => availability },
				{ head: "Your link", cell: ({ redirect_url, name }) => <CopyText text={redirect_url} label={`the link to ${name}`} /> },
			]}
			rows={results}
			empty={NOTHING}
		/>
	);
}

function Sellers({ answer, query }: { answer: SellersAnswer; query: Record<string, string> }): JSX.Element {
	const { results, page: at, last_page, total } = answer;
	const link = (to: number, label: string) => <a href={addressOf(PATH, query, { page: String(to) })}>{label}</a>;
	return (
		<>
			<Table
				caption={counted(total, "product")}
				columns={[
					{ head: "Product", cell: ({ name }) => name },
					{ head: "Maker", cell: ({ manufacturer }) => manufacturer },
					{ head: "ASIN", cell: ({ asin }) => asin },
					{ head: "Category", cell: ({ category }) => category },
					{ head: "Price", kind: "number", cell: ({ current_price }) => current_price },
					{ head: "Stock", cell: ({ stock_availability }) => stock_availability },
					{
						head: "Your link",
						cell: ({ redirect_url, name }) =>
							redirect_url === null ? null : <CopyText text={redirect_url} label={`the link to ${name}`} />,
					},
				]}
				rows={results}
				empty={NOTHING}
			/>
			{last_page > 1 ? (
				<nav class="pager" aria-label="Pages">
					{at > 1 ? link(at - 1, "Page before") : null}
					<span>
						Page {at} of {last_page}
					</span>
					{at < last_page ? link(at + 1, "Next page") : null}
				</nav>
			) : null}
		</>
	);
}
