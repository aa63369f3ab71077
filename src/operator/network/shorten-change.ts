/** What is shown of long values that have changed: what differs, so that a change does not hide behind much that is as it was. Pure. */
import { isObject, ownOf } from "../../lib/json.ts";

/** What stands before the part of a text that differs. */
const CONTEXT = 20;

/**
 * What a value was and is, as both are shown: whole where neither is long, else as JSON of what the other has not, cut where that is long,
 * too. Of objects the members come first that are furthest from each other, so that a price is not hidden among many.
 * @param most characters of JSON
 */
export function shortenBoth(before: unknown, after: unknown, most: number): [before: unknown, after: unknown] {
	if (!isLong(before, most) && !isLong(after, most)) return [before ?? null, after ?? null];
	const [old, present] = writeBoth(before, after, most);
	return [cut(before, old, most), cut(after, present, most)];
}

function cut(value: unknown, text: string, most: number): unknown {
	if (value === null || value === undefined || typeof value === "boolean" || typeof value === "number") return value ?? null;
	return `${text.slice(0, most).toWellFormed()}…`;
}

/** Of many members the number alone tells, which costs less than their JSON. */
function isLong(value: unknown, most: number): boolean {
	if (Array.isArray(value) && value.length > most) return true;
	if (isObject(value) && Object.keys(value).length * `"":0,`.length > most) return true;
	return write(value).length > most;
}

function write(value: unknown): string {
	return JSON.stringify(value) ?? "";
}

/** JSON of what of each value the other has not. @param most characters of it that are read */
function writeBoth(one: unknown, other: unknown, most: number): [string, string] {
	if (typeof one === "string" && typeof other === "string") return [write(fromDifference(one, other)), write(fromDifference(other, one))];
	if (Array.isArray(one) && Array.isArray(other)) return [writeList(one, other), writeList(other, one)];
	if (!isObject(one) && !isObject(other)) return [write(one), write(other)];
	const members = writeMembers(isObject(one) ? one : {}, isObject(other) ? other : {}, most);
	return [isObject(one) ? members[0] : write(one), isObject(other) ? members[1] : write(other)];
}

type Members = Readonly<Record<string, unknown>>;

function writeMembers(one: Members, other: Members, most: number): [string, string] {
	const differing: { name: string; one?: unknown; other?: unknown; far: number }[] = [];
	for (const [name, member] of Object.entries(one)) {
		const beside = ownOf(other, name);
		if (!isSame(member, beside)) differing.push({ name, one: member, other: beside, far: distance(member, beside) });
	}
	for (const [name, member] of Object.entries(other))
		if (!Object.hasOwn(one, name)) differing.push({ name, other: member, far: distance(member, undefined) });
	differing.sort((member, next) => next.far - member.far);
	// No objects: those would have names that are numbers stand first.
	const texts = { one: "", other: "" };
	for (const { name, ...members } of differing) {
		const sides = (["one", "other"] as const).filter((side) => members[side] !== undefined && texts[side].length <= most);
		if (sides.length === 0) continue;
		const [ofOne, ofOther] = areOfOneKind(members.one, members.other)
			? writeBoth(members.one, members.other, most)
			: [write(members.one), write(members.other)];
		for (const side of sides) texts[side] += `${texts[side] === "" ? "" : ","}${write(name)}:${side === "one" ? ofOne : ofOther}`;
	}
	return [`{${texts.one}}`, `{${texts.other}}`];
}

function isSame(one: unknown, other: unknown): boolean {
	return one === other || (typeof one === "object" && typeof other === "object" && JSON.stringify(one) === JSON.stringify(other));
}

function fromDifference(text: string, other: string): string {
	let start = 0;
	while (start < text.length && text[start] === other[start]) start++;
	return start > CONTEXT ? `…${text.slice(start - CONTEXT).toWellFormed()}` : text;
}

function areOfOneKind(one: unknown, other: unknown): boolean {
	return (Array.isArray(one) && Array.isArray(other)) || (isObject(one) && isObject(other));
}

/** How far an amount is from the other's, where there is none from nothing; of what is no amount nothing is told. */
function distance(value: unknown, other: unknown): number {
	const far = Math.abs(Number(value) - Number(other ?? 0));
	return Number.isFinite(far) ? far : 0;
}

/** Members that another list does not have as often; of one in another order, what follows from the first place that differs. */
function writeList(list: readonly unknown[], other: readonly unknown[]): string {
	const texts = list.map(write);
	const others = other.map(write);
	const left = new Map<string, number>();
	for (const text of others) left.set(text, (left.get(text) ?? 0) + 1);
	const without = texts.filter((text) => {
		const count = left.get(text) ?? 0;
		left.set(text, count - 1);
		return count <= 0;
	});
	if (without.length > 0 || texts.length < others.length) return `[${without.join(",")}]`;
	let start = 0;
	while (start < texts.length && texts[start] === others[start]) start++;
	return `[${[...(start > 0 ? ["…"] : []), ...texts.slice(start)].join(",")}]`;
}
