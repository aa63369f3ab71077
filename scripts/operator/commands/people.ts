import type { Command } from "commander";
import {
	changedPersonSchema,
	type ListedPerson,
	peopleSchema,
	personSchema,
	type ShownPerson,
} from "../../../src/console/session/people-answers.ts";
import { OPERATOR_ROLES, PUBLISHER_ROLES } from "../../../src/lib/access-enums.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { saySought } from "../say-none.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const LIST_FILTERS = ["publisher", "limit", "cursor"] as const;

type ListOptions = ServerOptions & Partial<Record<(typeof LIST_FILTERS)[number], string>>;
type ChangeOptions = ServerOptions & { dryRun?: boolean };

/** `people …`: who may sign in to the console, and what they sign in with. */
export const command: OperatorCommand = {
	name: "people",
	add(program) {
		const people = program
			.command("people")
			.description("who may sign in to the console: list them, change roles, keep them out, sign them out")
			.addHelpText(
				"after",
				"\n`sign-in-link` invites. Examples:\n  people list --publisher acme-media\n  people show 01a20497-93c7-76b9-82fa-75d0090785bc\n  people role 01a20497-93c7-76b9-82fa-75d0090785bc analyst",
			);
		withServerOptions(people.command("list"))
			.description("list a publisher's people, or the operator's staff, in the order in which they were invited")
			.option("--publisher <id>", "a publisher's id in the network file (otherwise the operator's staff)")
			.option("--limit <count>", "people a page, at most 1000")
			.option("--cursor <cursor>", "where the page before ended")
			.action(list);
		ofOne(people.command("show")).description("show someone with their passkeys and open sessions").action(show);
		changing(people.command("role"), "give someone another role, which holds from their next page on")
			.argument("<role>", `${oneOf(PUBLISHER_ROLES)} of a publisher's, ${oneOf(OPERATOR_ROLES)} of staff`)
			.action((id: string, role: string, options: ChangeOptions) => change(id, "role", { role }, options));
		changing(people.command("disable"), "sign someone out everywhere, and let them in no more").action(
			(id: string, options: ChangeOptions) => change(id, "disable", {}, options),
		);
		changing(people.command("enable"), "let someone sign in again").action((id: string, options: ChangeOptions) =>
			change(id, "enable", {}, options),
		);
		changing(people.command("sign-out"), "end someone's sessions, and links that were not used")
			.option("--session <id>", "this session alone, as `people show` has it")
			.action((id: string, { session, ...options }: ChangeOptions & { session?: string }) =>
				change(id, "sign-out", session === undefined ? {} : { session }, options),
			);
		changing(people.command("remove-passkey"), "remove a passkey of someone's")
			.argument("<passkey>", "its id, as `people show` has it")
			.action((id: string, passkey: string, options: ChangeOptions) => change(id, "remove-passkey", { passkey }, options));
	},
};

function ofOne(command: Command): Command {
	return withServerOptions(command).argument("<id>", "the person's, as `people list` shows it");
}

function changing(command: Command, description: string): Command {
	return ofOne(command).description(description).option("--dry-run", "only say what they would be then");
}

async function list(options: ListOptions): Promise<void> {
	const page = await readPage(options, "/operator/people", LIST_FILTERS, peopleSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseUnknown(options, { publisher: options.publisher });
	if (options.json) return;
	if (page.data.length === 0) console.log(`Nobody${saySought(LIST_FILTERS, options)} may sign in: \`sign-in-link\` invites.`);
	for (const person of page.data) console.log(describeListed(person));
	if (page.next_cursor !== null) console.log(`There are more: --cursor ${page.next_cursor}`);
}

async function show(id: string, options: ServerOptions): Promise<void> {
	const person = take(personSchema, await callOperator(targetOf(options), pathOf(id), null));
	console.log(options.json ? JSON.stringify(person, null, 2) : describePerson(person));
}

async function change(id: string, verb: string, body: object, { dryRun = false, ...options }: ChangeOptions): Promise<void> {
	const path = `${pathOf(id)}/${verb}${dryRun ? "?dry_run=1" : ""}`;
	const answer = take(changedPersonSchema, await callOperator(targetOf(options), path, JSON.stringify(body)), {
		names: namesOf(["session", "dryRun"]),
	});
	if (options.json) return console.log(JSON.stringify(answer, null, 2));
	console.log(`${answer.dry_run ? "Nothing was changed. They would be:" : "Done."}\n${describePerson(answer.person)}`);
}

function pathOf(id: string): string {
	return `/operator/people/${encodeURIComponent(id)}`;
}

function describeListed({ id, name, email, role, state, created_at }: ListedPerson): string {
	return `${id}  ${name}${email === null ? "" : ` <${email}>`}  ${role}  ${state}  since ${created_at}`;
}

function describePerson(person: ShownPerson): string {
	return [
		describeListed(person),
		...person.passkeys.map(
			({ id, name, created_at, last_used_at }) => `  passkey ${id}  ${name}  made ${created_at}, last used ${last_used_at ?? "never"}`,
		),
		...person.sessions.map(
			({ id, method, created_at, last_seen_at, viewing }) =>
				`  session ${id}  by ${method} at ${created_at}, last seen ${last_seen_at}${viewing === null ? "" : `, looks at ${viewing}`}`,
		),
	].join("\n");
}
