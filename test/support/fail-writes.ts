/** Makes the network database refuse some writes, as a trigger of it, on whichever engine. */
import { env } from "cloudflare:workers";
import { ON_BOTH, ON_D1 } from "./engine.ts";

const NAME = "fails_writes";

const D1 = ON_D1 ? env.DB : ON_BOTH ? env.D1 : null;
const POSTGRES = ON_BOTH ? env.POSTGRES_DB : ON_D1 ? null : env.DB;

/**
 * @param on   what fails, such as `INSERT ON callbacks`
 * @param when a condition on `new` or `old`; every such write fails without one
 */
export async function failWrites(on: string, when?: string): Promise<void> {
	const condition = when === undefined ? "" : `WHEN (${when})`;
	await D1?.prepare(`CREATE TRIGGER ${NAME} BEFORE ${on} ${condition} BEGIN SELECT RAISE(ABORT, 'refused'); END`).run();
	await POSTGRES?.batch([
		POSTGRES.prepare(
			`CREATE FUNCTION ${NAME}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'integrity_constraint_violation'; END $$`,
		),
		POSTGRES.prepare(`CREATE TRIGGER ${NAME} BEFORE ${on} FOR EACH ROW ${condition} EXECUTE FUNCTION ${NAME}()`),
	]);
}

/** Ends what {@link failWrites} began. */
export async function stopFailing(): Promise<void> {
	await D1?.prepare(`DROP TRIGGER IF EXISTS ${NAME}`).run();
	await POSTGRES?.prepare(`DROP FUNCTION IF EXISTS ${NAME} CASCADE`).run();
}
