// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Tradedoubler writes its macros so
/**
 * What the large networks and trackers fill into a postback's address, by the field of ours that it belongs to. `read`: the macros were
 * read in what the address of `source` says; of the others the address is where to look them up, and the macros are general usage.
 */

export const POSTBACK_FIELDS = ["txnid", "cid", "edate", "payout", "sales", "currency", "status"] as const;
export type PostbackField = (typeof POSTBACK_FIELDS)[number];

export type NetworkMacros = {
	id: string;
	name: string;
	/** Null where it sends publishers no postbacks: its statements are reconciled. What is not named is not known. */
	macros: Partial<Record<PostbackField, string>> | null;
	source: string;
	read: boolean;
	/** What else there is to know. */
	note?: string;
};

/** `cid` is the parameter of the network's link that took our `{click_id}`: where that was another, its macro is another too. */
export const NETWORK_MACROS: readonly NetworkMacros[] = [
	{
		id: "awin",
		name: "Awin",
		macros: {
			txnid: "!!!transactionId!!!",
			cid: "!!!clickRef!!!",
			edate: "!!!transactionDate!!!",
			payout: "!!!commission!!!",
			sales: "!!!transactionAmount!!!",
			currency: "!!!transactionCurrency!!!",
		},
		source: "https://developer.awin.com/docs/request-types",
		read: false,
		note: "Awin notifies of new transactions, not of what becomes of them: reconcile its statements.",
	},
	{
		id: "impact",
		name: "impact.com",
		macros: {
			txnid: "{ActionId}",
			cid: "{SubId1}",
			edate: "{EventDate}",
			payout: "{Payout}",
			sales: "{Amount}",
			currency: "{Currency}",
			status: "{Status}",
		},
		source: "https://integrations.impact.com/impact-brand/reference/enable-postbacks",
		read: false,
		note: "Its macros tell upper from lower case.",
	},
	{ id: "cj", name: "CJ", macros: null, source: "https://developers.cj.com/graphql/reference/Commission%20Detail", read: true },
	{ id: "rakuten", name: "Rakuten Advertising", macros: null, source: "https://developers.rakutenadvertising.com", read: false },
	{ id: "shareasale", name: "ShareASale", macros: null, source: "https://www.shareasale.com", read: false },
	{
		id: "tradedoubler",
		name: "Tradedoubler",
		macros: { txnid: "${orderNumber}", cid: "${epi}", payout: "${publisherCommission}" },
		source: "https://dev.tradedoubler.com",
		read: false,
	},
	{
		id: "kwanko",
		name: "Kwanko",
		macros: { txnid: "{UNIQUE_CONV_ID}", cid: "{ARGSITE}", payout: "{GAINAF}" },
		source: "https://www.kwanko.com",
		read: false,
	},
	{
		id: "timeone",
		name: "TimeOne",
		macros: { txnid: "!!!id!!!", cid: "!!!cb!!!", payout: "!!!commission!!!" },
		source: "https://www.timeonegroup.com",
		read: false,
	},
	{
		id: "admitad",
		name: "Admitad",
		macros: {
			txnid: "[[[order_id]]]",
			cid: "[[[subid]]]",
			edate: "[[[time]]]",
			payout: "[[[payment_sum]]]",
			sales: "[[[order_sum]]]",
			currency: "[[[currency]]]",
			status: "[[[payment_status]]]",
		},
		source: "https://support.mitgo.com/hc/en-us/articles/360019365798",
		read: false,
	},
	{
		id: "everflow",
		name: "Everflow",
		macros: { txnid: "{transaction_id}", cid: "{sub1}", payout: "{payout_amount}", sales: "{sale_amount}" },
		source: "https://helpdesk.everflow.io/en/articles/6173403-a-guide-to-parameters-and-macros",
		read: false,
	},
	{
		id: "tune",
		name: "TUNE (HasOffers)",
		macros: {
			txnid: "{transaction_id}",
			cid: "{aff_sub}",
			edate: "{datetime}",
			payout: "{payout}",
			sales: "{sale_amount}",
			currency: "{currency}",
		},
		source: "https://support.tune.com/hc/en-us/articles/1500008248741-Passing-Values-to-a-Partner-Conversion-URL",
		read: false,
	},
	{
		id: "cake",
		name: "CAKE",
		macros: { txnid: "#tid#", cid: "#s2#", payout: "#price#" },
		source: "https://getcake.freshdesk.com/support/solutions",
		read: false,
	},
	{
		id: "affise",
		name: "Affise",
		macros: {
			txnid: "{transactionid}",
			cid: "{sub1}",
			edate: "{timestamp}",
			payout: "{sum}",
			sales: "{order_sum}",
			currency: "{currency}",
			status: "{status}",
		},
		source: "https://help-center.affise.com/en/articles/6655842-affiliate-postback-macros-affiliates",
		read: true,
		note: "Its status is a number: 2, 3 and 5 belong into the platform's status_map (pending, cancelled, pending).",
	},
	{
		id: "scaleo",
		name: "Scaleo",
		macros: { txnid: "{transaction_id}", cid: "{aff_click_id}", payout: "{payout}" },
		source: "https://help.scaleo.io/article/384-affiliate-parameters",
		read: false,
	},
	{
		id: "maxbounty",
		name: "MaxBounty",
		macros: { txnid: "#LEADID#", cid: "#S1#", payout: "#RATE#" },
		source: "https://www.maxbounty.com",
		read: false,
	},
	{
		id: "clickbank",
		name: "ClickBank",
		macros: { txnid: "{receipt_id}", cid: "{tid}", payout: "{affiliate_earnings}", status: "{event_type}" },
		source: "https://support.clickbank.com",
		read: false,
	},
	{
		id: "digistore24",
		name: "Digistore24",
		macros: {
			txnid: "{transaction_id}",
			cid: "{cid}",
			payout: "{amount_affiliate}",
			currency: "{currency}",
			status: "{transaction_type}",
		},
		source: "https://docs.digistore24.com/knowledge-base/s2s-postback/",
		read: true,
	},
	{
		id: "keitaro",
		name: "Keitaro",
		macros: { txnid: "{tid}", cid: "{external_id}", payout: "{revenue}", status: "{status}" },
		source: "https://docs.keitaro.io/en/campaigns-and-streams/s2s-postback-placeholders.html",
		read: true,
		note: "Its {date} is that of the click.",
	},
	{
		id: "binom",
		name: "Binom",
		macros: { txnid: "{clickid}", cid: "{externalid}", payout: "{payout}", currency: "{cnv_currency}", status: "{cnv_status}" },
		source: "https://docs.binom.org/conv-to-source-v2.php",
		read: true,
	},
	{
		id: "voluum",
		name: "Voluum",
		macros: { txnid: "{transaction.id}", cid: "{externalid}", payout: "{payout}" },
		source: "https://doc.voluum.com",
		read: false,
	},
];

export function findNetwork(id: string): NetworkMacros | null {
	return NETWORK_MACROS.find((network) => network.id === id) ?? null;
}

/** The network that a platform is of, by its id or name; null where these do not tell. */
export function networkOf({ id, name }: { id: string; name: string }): NetworkMacros | null {
	const words = [id, name].flatMap((text) => text.toLowerCase().split(/[^a-z0-9]+/));
	return NETWORK_MACROS.find((network) => words.includes(network.id)) ?? null;
}
