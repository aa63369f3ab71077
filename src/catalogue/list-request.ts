/** What a brand list is asked for. */
import { TRAFFIC_TYPES, type TrafficType } from "../lib/enums.ts";

/** One record a domain; or one record a brand and country, of the brands offered for a type of traffic. */
export type ListRequest = { by: "domain" } | { by: "country"; trafficType: TrafficType };

const TYPES = new Map<string, TrafficType>(TRAFFIC_TYPES.map((name) => [name.toLowerCase(), name]));

/** Reads the `traffic_type` parameter, whatever its case and the spaces around it; or says what is wrong with it. */
export function readTrafficType(given: string | undefined): { trafficType: TrafficType } | { fault: string } {
	const name = given?.trim().toLowerCase() ?? "";
	if (name === "") return { fault: "traffic_type is required." };
	const trafficType = TYPES.get(name);
	return trafficType === undefined ? { fault: "Invalid traffic_type." } : { trafficType };
}
