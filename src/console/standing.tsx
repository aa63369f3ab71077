/** How a conversion stands, in one word: what its platform says of one that does not count yet would say something else beside it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ConversionStatus } from "../lib/enums.ts";
import type { Hold } from "../publisher-api/conversions-answer.ts";
import { State } from "./ui/values.tsx";

/** As its publisher sees it. */
export function Standing({ status, held }: { status: ConversionStatus; held: Hold | null }): JSX.Element {
	if (held === "test") return <State word="test" />;
	return <State word={held === null ? status : "waiting"} />;
}

/** As staff sees it: where it is not settled, how far it has come. */
export function StaffStanding({ stage, status }: { stage: string; status: string }): JSX.Element {
	return <State word={stage === "settled" ? status : stage} />;
}
