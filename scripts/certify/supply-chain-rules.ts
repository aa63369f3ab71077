/** Rules about `source.schain`: of publishers whose bids ask for a complete chain, and that others' bids do not mind one. */
import { type Fields, fillRule, noBidRule, post, request } from "./openrtb-asks.ts";
import type { Rule, Sent, Subject } from "./rule.ts";
import type { SupplyChain } from "./supply-chain.ts";

/** Of nobody: right where nobody asks for a chain. */
const ANY: SupplyChain = { ver: "1.0", complete: 1, nodes: [{ asi: "certify.example", sid: "certify-seller", hp: 1 }] };

/** A request with this in the place of its usual source. */
const from = (subject: Subject, make: (chain: SupplyChain) => Fields | undefined): Sent =>
	post(subject, request(subject, { source: make(subject.supplyChain ?? ANY) }));

/** No bid where a chain is asked for. */
const refused = (name: string, make: (chain: SupplyChain) => Fields | undefined): Rule => ({
	...noBidRule(name, (subject) => from(subject, make)),
	needs: ["supplyChain"],
});

export const SUPPLY_CHAIN_RULES: readonly Rule[] = [
	fillRule("a complete supply chain bids (source.schain, OpenRTB 2.6)", (subject) => from(subject, (schain) => ({ schain }))),
	fillRule("a complete supply chain bids (source.ext.schain, OpenRTB 2.5)", (subject) => from(subject, (schain) => ({ ext: { schain } }))),
	refused("no supply chain", () => undefined),
	refused("a supply chain that is not complete", (schain) => ({ schain: { ...schain, complete: 0 } })),
	refused("a supply chain without nodes", (schain) => ({ schain: { ...schain, nodes: [] } })),
	refused("a supply chain of which a node has no sid", (schain) => ({
		schain: { ...schain, nodes: schain.nodes.map(({ asi, hp }) => ({ asi, hp })) },
	})),
	refused("two supply chains of which one is not complete", (schain) => ({ schain, ext: { schain: { ...schain, complete: 0 } } })),
];
