/** What is shown of long values that have changed: what differs, so that a change does not hide behind much that is as it was. Pure. */
import { isObject, ownOf } from "../../lib/json.ts";

/** What stands before the part of a text that differs. */
const CONTEXT = 20;

/**
 * A value as it is shown beside another one: whole where neither is long, else as JSON of what of it the other has not, cut where that is
 * long, too. Of an object the members come first that are furthest from the other's, so that a price is not hidden among many.
 * @param most characters of JSON
 */
export function shortenBeside(value: unknown, other: unknown, most: number): unknown {
	if (value === null || value === undefined || typeof value === "boolean" || typeof value === "number") return value ?? null;
	if (lengthOf(value) <= most && lengthOf(other) <= most) return value;
	return `${write(value, other).slice(0, most)}…`;
}

function lengthOf(value: unknown): number {
	return (JSON.stringify(value) ?? "").length;
}

/** JSON of what of a value the other has not. */
function write(value: unknown, other: unknown): string {
	if (typeof value === "string" && typeof other === "string") return JSON.stringify(fromDifference(value, other));
	if (Array.isArray(value)) return JSON.stringify(Array.isArray(other) ? without(value, other) : value);
	if (!isObject(value)) return JSON.stringify(value);
	const beside = isObject(other) ? other : {};
	const members = Object.entries(value)
		.map(([name, member]) => ({ name, member, other: ownOf(beside, name) }))
		.filter((of) => JSON.stringify(of.member) !== JSON.stringify(of.other))
		.sort((one, next) => distance(next.member, next.other) - distance(one.member, one.other))
		.map(
			(of) => `${JSON.stringify(of.name)}:${areOfOneKind(of.member, of.other) ? write(of.member, of.other) : JSON.stringify(of.member)}`,
		);
	// No object: that would have names that are numbers stand first.
	return `{${members.join(",")}}`;
}

function fromDifference(text: string, other: string): string {
	let start = 0;
	while (start < text.length && text[start] === other[start]) start++;
	return start > CONTEXT ? `…${text.slice(start - CONTEXT)}` : text;
}

function areOfOneKind(one: unknown, other: unknown): boolean {
	return (Array.isArray(one) && Array.isArray(other)) || (isObject(one) && isObject(other));
}

/** How far an amount is from the other's, where there is none from nothing; of what is no amount nothing is told. */
function distance(value: unknown, other: unknown): number {
	const far = Math.abs(Number(value) - Number(other ?? 0));
	return Number.isFinite(far) ? far : 0;
}

/** Members of a list that another does not have as often. */
function without(list: readonly unknown[], other: readonly unknown[]): unknown[] {
	const left = new Map<string, number>();
	for (const member of other) left.set(JSON.stringify(member), (left.get(JSON.stringify(member)) ?? 0) + 1);
	return list.filter((member) => {
		const text = JSON.stringify(member);
		const count = left.get(text) ?? 0;
		left.set(text, count - 1);
		return count <= 0;
	});
}
