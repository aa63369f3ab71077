/** Wires the routes of operators. */
import { adjustmentRoutes } from "./adjustments/adjustment-routes.ts";
import { ratesRoutes } from "./adjustments/rates-routes.ts";
import { feedbackReportRoutes } from "./auction-feedback/routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { bidsRoutes } from "./bid-counts/bids-routes.ts";
import { explainRoutes } from "./bidding/explain-route.ts";
import { callbackRoutes } from "./callbacks/operator-routes.ts";
import { claimRoutes } from "./claims/claim-routes.ts";
import { peopleRoutes } from "./console/session/people-routes.ts";
import { signInLinkRoutes } from "./console/session/sign-in-link-routes.ts";
import { traceRoutes } from "./conversions/trace-route.ts";
import { moveRoutes } from "./database-move/move-routes.ts";
import { ledgerRoutes } from "./ledger-check/ledger-routes.ts";
import { networkReportRoutes } from "./network-reports/report-routes.ts";
import { clicksRoutes } from "./operator/clicks/clicks-routes.ts";
import { conversionsRoutes } from "./operator/conversions/conversions-routes.ts";
import { replayRoutes } from "./operator/dead-letters/replay-routes.ts";
import { eraseRoutes } from "./operator/erase/erase-routes.ts";
import { feedRoutes } from "./operator/feeds/feed-routes.ts";
import { keysRoutes } from "./operator/keys/keys-routes.ts";
import { explainPrices } from "./operator/learning/explain-prices.ts";
import { learningRoutes } from "./operator/learning/learning-routes.ts";
import { ENTRY_SECTIONS } from "./operator/network/entry-answers.ts";
import { entryRoutes, networkRoutes } from "./operator/network/network-routes.ts";
import { postbackUrlRoutes } from "./operator/postback-problems/postback-url-routes.ts";
import { problemsRoutes } from "./operator/postback-problems/problems-routes.ts";
import { statementRoutes } from "./operator/statement/statement-routes.ts";
import { statusRoutes } from "./operator/status/status-routes.ts";
import { callbackDeps, now } from "./origin-deps.ts";
import type { Services } from "./origin-services.ts";
import { reconcileRoutes } from "./reconcile/reconcile-routes.ts";

/** The verbs of operators, by their path below `/operator`. */
export function operatorVerbs(services: Services) {
	const { env, config, db, products, move, keys, queues, consoleUrl, bidding, imports, issuing, adjusting, settling, mending, watching } =
		services;
	return {
		"/network": networkRoutes({ ...imports, baseUrl: config.BASE_URL }),
		...Object.fromEntries(ENTRY_SECTIONS.map((section) => [`/${section}`, entryRoutes(imports, section)])),
		"/products": feedRoutes({ db, products, now }, "products"),
		"/seller-products": feedRoutes({ db, products, now }, "seller_products"),
		"/explain": explainRoutes(bidding, (asked) => explainPrices(db, asked, now())),
		"/learning": learningRoutes(imports),
		"/keys": keysRoutes(issuing),
		"/people": peopleRoutes({ db, now }),
		"/sign-in-links": signInLinkRoutes({ db, now, consoleUrl }),
		"/audit": auditRoutes({ db }),
		"/replay": replayRoutes({ db, queues, now }),
		"/reports": networkReportRoutes(watching),
		"/erase": eraseRoutes({ db, kv: env.BOOK, archive: env.ARCHIVE, keys, now }),
		"/bids": bidsRoutes({ db, now }),
		"/auction-feedback": feedbackReportRoutes({ db, now }),
		"/status": statusRoutes(watching),
		...(env.CALLBACKS !== undefined && { "/callbacks": callbackRoutes(callbackDeps(env)) }),
		"/trace": traceRoutes(db),
		"/adjustments": adjustmentRoutes(adjusting),
		"/claims": claimRoutes(adjusting),
		"/clicks": clicksRoutes(adjusting.db),
		"/rates": ratesRoutes(adjusting),
		"/conversions": conversionsRoutes(adjusting),
		"/problems/postbacks": problemsRoutes(mending),
		"/reconcile": statementRoutes(settling),
		"/postback-url": postbackUrlRoutes({ db, now, baseUrl: config.BASE_URL }),
		"/reconcile-sums": reconcileRoutes({ db, now }),
		"/check-ledger": ledgerRoutes({ db, now }),
		"/database": moveRoutes({ move, now }),
	};
}
