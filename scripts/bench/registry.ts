import type { Part } from "./part.ts";
import { brandsList } from "./parts/brands-list.ts";
import { bundle } from "./parts/bundle.ts";
import { catalogue } from "./parts/catalogue.ts";
import { clickConsumer } from "./parts/click-consumer.ts";
import { clickConsumerPostgres } from "./parts/click-consumer-postgres.ts";
import { desk, deskPostgres } from "./parts/desk.ts";
import { hostile } from "./parts/hostile.ts";
import { importFile } from "./parts/import-file.ts";
import { intake } from "./parts/intake.ts";
import { learned } from "./parts/learned.ts";
import { learningPart } from "./parts/learning.ts";
import { ledger } from "./parts/ledger.ts";
import { openLoop } from "./parts/open-loop.ts";
import { openrtb } from "./parts/openrtb.ts";
import { openrtbNoBid } from "./parts/openrtb-no-bid.ts";
import { openrtbProfile } from "./parts/openrtb-profile.ts";
import { products } from "./parts/products.ts";
import { publish } from "./parts/publish.ts";
import { publishers } from "./parts/publishers.ts";
import { redirect } from "./parts/redirect.ts";
import { reports, reportsPostgres } from "./parts/reports.ts";
import { servingEngine } from "./parts/serving-engine.ts";
import { settle, settlePostgres } from "./parts/settle.ts";
import { shortcuts } from "./parts/shortcuts.ts";
import { signals } from "./parts/signals.ts";
import { traffic } from "./parts/traffic.ts";

/** Every part, in the order in which a whole run takes them. */
export const PARTS: readonly Part[] = [
	bundle,
	openrtb,
	openrtbNoBid,
	servingEngine,
	signals,
	learned,
	openrtbProfile,
	shortcuts,
	hostile,
	redirect,
	openLoop,
	traffic,
	publish,
	importFile,
	catalogue,
	publishers,
	brandsList,
	clickConsumer,
	clickConsumerPostgres,
	ledger,
	learningPart,
	reports,
	reportsPostgres,
	desk,
	deskPostgres,
	products,
	intake,
	settle,
	settlePostgres,
];
