/** What the pages of people share: whose people they are, and how one stands. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { segmentOf } from "../../lib/path-segment.ts";
import type { PersonRequest } from "../page.ts";
import type { KnownPerson } from "../session/people.ts";
import { State } from "../ui/values.tsx";
import { requireEntry } from "./change-entry-pages.tsx";

export const STAFF_PATH = "/console/operator/staff";
export const PUBLISHER_PATH = "/console/operator/publishers/:publisher/people";

/** Whose people a page is about: a publisher's id, null for staff. */
type Team = { publisherId: string | null; path: string; title: string };

export async function teamOf(request: PersonRequest): Promise<Team> {
	const publisherId = request.param("publisher");
	if (publisherId === "") return { publisherId: null, path: STAFF_PATH, title: "Staff" };
	const { entry } = await requireEntry(request, "publishers", publisherId);
	return {
		publisherId,
		path: PUBLISHER_PATH.replace(":publisher", () => segmentOf(publisherId)),
		title: `People of ${String(entry.name)}`,
	};
}

export function PersonState({ person: { disabledAt } }: { person: KnownPerson }): JSX.Element {
	return <State word={disabledAt === null ? "active" : "disabled"} tone={disabledAt === null ? "good" : "over"} />;
}
