/** Which database is the network's: the one place that knows by which bindings it is chosen. */
import { isPostgresClient } from "./client.ts";
import { openPostgres } from "./postgres.ts";
import { boundD1 } from "./wrap-d1.ts";

export type NetworkBindings = {
	DB?: D1Database;
	POSTGRES?: Pick<Hyperdrive, "connectionString">;
	NETWORK_DATABASE?: string;
};

export type ChosenNetwork = {
	/** The one in use: PostgreSQL where it is bound, unless NETWORK_DATABASE says `d1`. */
	inUse: D1Database | undefined;
	isPostgres: boolean;
	/** Both, where both are bound: what a move goes from and to. */
	move: { from: D1Database; to: D1Database } | null;
};

/** Nothing is opened before the first statement. */
export function chooseNetwork({ DB, POSTGRES, NETWORK_DATABASE }: NetworkBindings): ChosenNetwork {
	const d1 = DB === undefined || isPostgresClient(DB) ? DB : boundD1(DB, "the network database");
	const postgres = POSTGRES === undefined ? undefined : openPostgres(POSTGRES.connectionString);
	const isPostgres = NETWORK_DATABASE === "postgres" || (NETWORK_DATABASE !== "d1" && postgres !== undefined);
	return {
		inUse: isPostgres ? postgres : d1,
		isPostgres,
		move: d1 === undefined || postgres === undefined ? null : { from: d1, to: postgres },
	};
}
