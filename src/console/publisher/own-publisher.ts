/** The publisher whose page it is, with all that its verbs ask of it. */

import type { Publisher } from "../../keys/key-owners.ts";
import { HttpError } from "../../lib/http.ts";
import type { ConsoleDeps } from "../deps.ts";
import type { SeenPublisher } from "../session/sessions.ts";

/** @throws HttpError 404 where it is no more */
export async function ownPublisher({ publisherApi }: ConsoleDeps, { id }: SeenPublisher): Promise<Publisher> {
	const publisher = await publisherApi.keys.publisherOf(id);
	if (publisher === null) throw new HttpError(404, { error: "Not found" });
	return publisher;
}
