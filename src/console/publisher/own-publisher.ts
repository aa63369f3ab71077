/** What every page of a publisher asks first: who it is, what it may change, and whether there is what was asked for. */
import type { Publisher } from "../../keys/key-owners.ts";
import { HttpError } from "../../lib/http.ts";
import type { ConsoleDeps } from "../deps.ts";
import type { PublisherRequest } from "../page.ts";
import type { SeenPublisher } from "../session/sessions.ts";

/** The publisher whose page it is, with all that its verbs ask of it. @throws HttpError 404 where it is no more */
export async function ownPublisher({ publisherApi }: ConsoleDeps, { id }: SeenPublisher): Promise<Publisher> {
	return found(await publisherApi.keys.publisherOf(id));
}

/** Whether whoever looks may change what is the publisher's: of a suspended one, owners take away alone. */
export function mayChange({ person, publisher }: Pick<PublisherRequest, "person" | "publisher">): boolean {
	return person.role === "owner" && publisher.status !== "suspended";
}

/** What a verb has found. @throws HttpError 404 where it has found nothing */
export function found<Answer>(answer: Answer | null): Answer {
	if (answer === null) throw new HttpError(404, { error: "Not found" });
	return answer;
}
