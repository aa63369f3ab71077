import * as v from "valibot";
import {
	type SignInLink,
	type SignInLinkPreview,
	signInLinkPreviewSchema,
	signInLinkSchema,
} from "../../../src/console/session/people-answers.ts";
import { OPERATOR_ROLES, PUBLISHER_ROLES } from "../../../src/lib/access-enums.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type LinkOptions = ServerOptions & { publisher?: string; name?: string; staff?: string; role?: string; email?: string; dryRun?: boolean };

/** `sign-in-link`: a one-time link into the console. */
export const command: OperatorCommand = {
	name: "sign-in-link",
	add(program) {
		withServerOptions(program.command("sign-in-link"))
			.description("make a link that signs someone in to the console, once; whoever is new is invited")
			.option("--publisher <id>", "for someone of this publisher's")
			.option("--name <name>", "who at the publisher (otherwise Owner)")
			.option("--staff <name>", "for this member of the operator's staff")
			.option(
				"--role <role>",
				`of someone new: ${oneOf(PUBLISHER_ROLES)} of a publisher's (otherwise owner), ${oneOf(OPERATOR_ROLES)} of staff`,
			)
			.option("--email <address>", "of someone new")
			.option("--dry-run", "only say whose link it would be")
			.addHelpText(
				"after",
				"\nExamples:\n  sign-in-link --publisher acme-media --name 'Ada Lovelace'\n  sign-in-link --staff grace --role manager --email grace@example.com",
			)
			.action(issue);
	},
};

async function issue({ publisher, name, staff, role, email, dryRun, ...options }: LinkOptions): Promise<void> {
	if ((publisher === undefined) === (staff === undefined)) throw new Failure("Name either --publisher, or --staff.");
	if (staff !== undefined && name !== undefined) throw new Failure("--name is of a publisher's people: --staff is a name itself.");
	const whose = publisher === undefined ? { staff } : { publisher, ...(name !== undefined && { name }) };
	const body = { ...whose, ...(role !== undefined && { role }), ...(email !== undefined && { email }) };
	const path = `/operator/sign-in-links${dryRun ? "?dry_run=1" : ""}`;
	const answer = take(
		v.union([signInLinkSchema, signInLinkPreviewSchema]),
		await callOperator(targetOf(options), path, JSON.stringify(body)),
		{ names: namesOf(["publisher", "name", "staff", "role", "email", "dryRun"]) },
	);
	console.log(options.json ? JSON.stringify(answer, null, 2) : describeLink(answer));
}

function describeLink({ person, purpose, url, expires_at: expiresAt, ...rest }: SignInLink | SignInLinkPreview): string {
	const whose =
		person.publisher === null ? `${person.name}, staff (${person.role})` : `${person.name} of ${person.publisher} (${person.role})`;
	const isNew = purpose === "invitation";
	if (url === null) {
		const ended = "ends" in rest && rest.ends > 0 ? `, and ${rest.ends} of theirs would open no more` : "";
		return `Nothing was changed. The link would be ${isNew ? "an invitation of" : "for"} ${whose}, until ${expiresAt}${ended}.`;
	}
	return `${isNew ? "Invited" : "For"} ${whose}. The link works once, until ${expiresAt}, and is shown only here:\n${url}`;
}
