/** Makes the network database refuse some writes, as a trigger of it, on either engine. */
import { env } from "cloudflare:workers";
import { ON_D1 } from "./engine.ts";

const NAME = "fails_writes";

/**
 * @param on   what fails, such as `INSERT ON callbacks`
 * @param when a condition on `new` or `old`; every such write fails without one
 */
export async function failWrites(on: string, when?: string): Promise<void> {
	const condition = when === undefined ? "" : `WHEN (${when})`;
	if (ON_D1) {
		await env.DB.prepare(`CREATE TRIGGER ${NAME} BEFORE ${on} ${condition} BEGIN SELECT RAISE(ABORT, 'refused'); END`).run();
		return;
	}
	await env.DB.batch([
		env.DB.prepare(
			`CREATE FUNCTION ${NAME}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'integrity_constraint_violation'; END $$`,
		),
		env.DB.prepare(`CREATE TRIGGER ${NAME} BEFORE ${on} FOR EACH ROW ${condition} EXECUTE FUNCTION ${NAME}()`),
	]);
}

/** Ends what {@link failWrites} began. */
export async function stopFailing(): Promise<void> {
	await env.DB.prepare(ON_D1 ? `DROP TRIGGER IF EXISTS ${NAME}` : `DROP FUNCTION IF EXISTS ${NAME} CASCADE`).run();
}
