/** Every endpoint, in the order in which the reference shows them. */
import type { Operation } from "../operation.ts";
import { BID_OPERATIONS } from "./bids.ts";
import { OPERATOR_NETWORK_OPERATIONS } from "./operator-network.ts";
import { SERVICE_OPERATIONS } from "./service.ts";

export const TAGS = [
	{ name: "Bids", description: "Real-time bids, at the edge." },
	{ name: "Operator", description: "For those who run the network." },
	{ name: "Service", description: "Liveness and readiness." },
] as const;

export const OPERATIONS: readonly Operation[] = [...BID_OPERATIONS, ...OPERATOR_NETWORK_OPERATIONS, ...SERVICE_OPERATIONS];
