/** What has stopped of the publisher, the brand and the campaign of a click: pure. */
import { brandSubject, campaignSubject, publisherSubject } from "../../lib/stop-subject.ts";
import type { StopReason } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import type { ClickFacts } from "../payable.ts";
import type { Facts } from "./facts.ts";

/** A row of `stops`. */
export type Stop = { subject: string; domain: string; reason: StopReason; country: string; since: number };

/** Stops by {@link stopKey}. */
export type Stops = ReadonlyMap<string, readonly Stop[]>;

type StopOwner = Pick<Stop, "subject" | "domain">;

/** No domain has a blank. */
export const stopKey = ({ subject, domain }: StopOwner) => `${subject} ${domain}`;

/** Whose stops speak against a click. A publisher or brand that is not known here speaks against none. */
export function stopOwnersOf(click: ClickMessage, facts: Facts): StopOwner[] {
	const publisher = facts.publishers.get(click.publisher);
	const domain = facts.domains.get(click.brandId);
	const owners: StopOwner[] = [{ subject: campaignSubject(click.campaignId), domain: "" }];
	if (publisher !== undefined) owners.push({ subject: publisherSubject(publisher.id), domain: "" });
	if (domain === undefined) return owners;
	owners.push({ subject: brandSubject(domain), domain: "" });
	if (publisher !== undefined) owners.push({ subject: publisherSubject(publisher.id), domain });
	return owners;
}

/**
 * What had stopped when the user clicked: a click that was made before stays paid, however late its message comes. Blocks of a country
 * are held against that of the campaign, as at the redirect.
 */
export function readStopFacts(click: ClickMessage, facts: Facts, stops: Stops): ClickFacts {
	const stopped: ClickFacts = {};
	if (stops.size === 0) return stopped;
	const country = click.campaignCountry ?? click.country;
	for (const owner of stopOwnersOf(click, facts)) {
		for (const stop of stops.get(stopKey(owner)) ?? []) {
			if (stop.since <= click.at && (stop.country === "" || stop.country === country)) stopped[stop.reason] = true;
		}
	}
	return stopped;
}
