/** The menus. A role's menu has what it may open: what stands here is held to the routes by a test. */
import type { LinkGroup } from "./layout.tsx";

/** Of a publisher's people; every one of them may look at all of it. */
export const PUBLISHER_MENU: readonly LinkGroup[] = [
	{
		heading: "Earnings",
		links: [
			{ href: "/console/earnings", label: "Earnings" },
			{ href: "/console/clicks", label: "Clicks" },
			{ href: "/console/conversions", label: "Conversions" },
			{ href: "/console/claims", label: "Claims" },
		],
	},
	{
		heading: "Promote",
		links: [
			{ href: "/console/links", label: "Links" },
			{ href: "/console/brands", label: "Brands" },
			{ href: "/console/products", label: "Products" },
			{ href: "/console/no-bids", label: "Why no bid" },
		],
	},
	{
		heading: "Set up",
		links: [
			{ href: "/console/callbacks", label: "Callbacks" },
			{ href: "/console/settings", label: "Settings" },
			{ href: "/console/passkeys", label: "Passkeys" },
		],
	},
];

/** Of staff. */
export const OPERATOR_MENU: readonly LinkGroup[] = [
	{
		links: [
			{ href: "/console/operator", label: "Home" },
			{ href: "/console/operator/find", label: "Find" },
		],
	},
	{
		heading: "Money",
		links: [
			{ href: "/console/operator/postback-problems", label: "Postback problems" },
			{ href: "/console/operator/conversions", label: "Conversions" },
			{ href: "/console/operator/claims", label: "Claims" },
			{ href: "/console/operator/adjustments", label: "Adjustments" },
			{ href: "/console/operator/callbacks", label: "Callbacks" },
			{ href: "/console/operator/dead-letters", label: "Dead letters" },
		],
	},
	{
		heading: "Serving",
		links: [
			{ href: "/console/operator/traffic", label: "Traffic" },
			{ href: "/console/operator/clicks", label: "Clicks" },
			{ href: "/console/operator/explain", label: "Explain a bid" },
			{ href: "/console/operator/learning", label: "Learned prices" },
		],
	},
	{
		heading: "Network",
		links: [
			{ href: "/console/operator/publishers", label: "Publishers" },
			{ href: "/console/operator/brands", label: "Brands" },
			{ href: "/console/operator/campaigns", label: "Campaigns" },
			{ href: "/console/operator/platforms", label: "Platforms" },
			{ href: "/console/operator/imports", label: "Imports" },
		],
	},
	{
		heading: "Access",
		links: [
			{ href: "/console/operator/keys", label: "Keys" },
			{ href: "/console/operator/staff", label: "Staff" },
			{ href: "/console/operator/audit", label: "Audit" },
			{ href: "/console/passkeys", label: "Passkeys" },
		],
	},
];
