import type { PublisherRequest } from "../page.ts";

/** Whether whoever looks may change what is the publisher's: of a suspended one, owners take away alone. */
export function mayChange({ person, publisher }: Pick<PublisherRequest, "person" | "publisher">): boolean {
	return person.role === "owner" && publisher.status !== "suspended";
}
