/** Holds files to the map of parts. Pure: knows paths and texts, not the disk. */
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { LOADERS, MAP_PATH, OUTSIDE, type Part, REACHES, SCRIPT_PARTS, SOURCE_PARTS } from "./map.ts";
import { type Import, readImports } from "./read-imports.ts";

/** A file's text by its path from the root, such as `src/lib/money.ts`. */
export type Files = ReadonlyMap<string, string>;

const PARTS: readonly Part[] = [...SOURCE_PARTS, ...SCRIPT_PARTS];

type Target = { type: "file"; path: string } | { type: "package"; name: string } | { type: "runtime"; name: string } | { type: "unknown" };
type Read = Import & { file: string; target: Target };

/** Every import that the map forbids, and every file that it does not know, each with file, line and rule. */
export function checkImports(files: Files): string[] {
	const imports = readAll(files);
	const homeless = [...files.keys()].filter((file) => partOf(file) === undefined);
	return [
		...homeless.map((file) => `${file}: belongs to no part. Give it one in ${MAP_PATH}.`),
		...imports.flatMap((found) => {
			const fault = findFault(found);
			return fault === null ? [] : [`${found.file}:${found.line}: ${describe(found)}: ${fault} (${MAP_PATH})`];
		}),
		...REACHES.flatMap((reach) => checkReach(reach, imports)),
	];
}

/** What the map allows and no file makes use of, and parts without a file: it allows what is needed, and nothing else. */
export function findUnused(files: Files): string[] {
	const imports = readAll(files);
	return PARTS.flatMap((part) => {
		const own = imports.filter(({ file }) => partOf(file) === part);
		if (![...files.keys()].some((file) => partOf(file) === part)) return [`${part.path} holds no file`];
		const used = (test: (target: Target) => boolean) => own.some(({ target }) => test(target));
		return [
			...part.imports
				.filter((allowed) => !used((target) => target.type === "file" && partOf(target.path) !== part && covers(allowed, target.path)))
				.map((allowed) => `${part.path} imports nothing of ${allowed}`),
			...part.packages
				.filter((name) => !used((target) => (target.type === "package" || target.type === "runtime") && target.name === name))
				.map((name) => `${part.path} does not import ${name}`),
		];
	});
}

/** Files that import each other, over others too: each circle once, as the way around it. */
export function findCircles(files: Files): string[] {
	const targets = new Map<string, string[]>();
	for (const { file, target } of readAll(files)) {
		if (target.type === "file" && target.path !== file) targets.set(file, [...(targets.get(file) ?? []), target.path]);
	}
	const circles: string[] = [];
	const left = new Set<string>();
	const visit = (file: string, way: readonly string[]) => {
		const begin = way.indexOf(file);
		if (begin >= 0) circles.push([...way.slice(begin), file].join(" → "));
		if (begin >= 0 || left.has(file)) return;
		for (const next of targets.get(file) ?? []) visit(next, [...way, file]);
		left.add(file);
	};
	for (const file of files.keys()) visit(file, []);
	return circles;
}

/** Where the map itself is at fault: imports of what does not stand above, or is named nowhere. */
export function checkMap(parts: readonly Part[] = PARTS): string[] {
	const above = new Set(OUTSIDE);
	return parts.flatMap((part) => {
		const faults = part.imports
			.filter((allowed) => !above.has(allowed) && !(isFile(allowed) && above.has(findPart(allowed, parts)?.path ?? "")))
			.map((allowed) => `${part.path} → ${allowed}: only what stands above may be imported`);
		above.add(part.path);
		return faults;
	});
}

/** What was read of each file, with the text that it was read of: a test checks the same files more than once. */
const known = new Map<string, { text: string; imports: Read[] }>();

function readAll(files: Files): Read[] {
	return [...files].flatMap(([file, text]) => {
		const read = known.get(file);
		if (read?.text === text) return read.imports;
		const imports = readImports(file, text).map((found) => ({ ...found, file, target: resolve(file, found.specifier) }));
		known.set(file, { text, imports });
		return imports;
	});
}

function resolve(file: string, specifier: string | null): Target {
	if (specifier === null) return { type: "unknown" };
	if (/^\.\.?(\/|$)/.test(specifier)) {
		const path = posix.join(posix.dirname(file), specifier.replace(/[?#].*$/, "")).replace(/\/$/, "");
		return { type: "file", path };
	}
	if (isBuiltin(specifier)) return { type: "runtime", name: specifier };
	const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
	return name === undefined ? { type: "unknown" } : { type: "package", name };
}

/** Parts of files by the map: each import asks for them. */
const homes = new Map<string, Part | undefined>();

function partOf(file: string): Part | undefined {
	if (!homes.has(file)) homes.set(file, findPart(file, PARTS));
	return homes.get(file);
}

function findPart(file: string, parts: readonly Part[]): Part | undefined {
	const within = parts.filter(({ path }) => isWithin(file, path)).sort((a, b) => b.path.length - a.path.length);
	return parts.find(({ files }) => files?.includes(file)) ?? within[0];
}

function isWithin(file: string, path: string): boolean {
	return file === path || file.startsWith(`${path}/`);
}

function isFile(path: string): boolean {
	return /\.\w+$/.test(path);
}

/** Whether what the map allows by this name is, or holds, the file. A folder that is a part does not hold parts within it. */
function covers(allowed: string, file: string): boolean {
	return allowed === file || (OUTSIDE.includes(allowed) && isWithin(file, allowed)) || partOf(file)?.path === allowed;
}

function findFault({ file, target }: Read): string | null {
	const part = partOf(file);
	if (part === undefined) return null;
	switch (target.type) {
		case "unknown":
			return LOADERS.includes(file) ? null : "what is imported must be a literal";
		case "runtime":
			return part.path.startsWith("scripts/") || part.packages.includes(target.name)
				? null
				: "src/ imports what Node brings only where the map names it";
		case "package":
			return part.packages.includes(target.name) ? null : `${part.path} may import ${list(part.packages)} of packages`;
		case "file": {
			const isOwn = partOf(target.path) === part;
			return isOwn || part.imports.some((allowed) => covers(allowed, target.path)) ? null : `${part.path} may import ${list(part.imports)}`;
		}
	}
}

/** Follows the imports from an entry; the first way to each thing that must not be reached is a fault. */
function checkReach({ entry, parts, packages }: (typeof REACHES)[number], imports: readonly Read[]): string[] {
	const faults: string[] = [];
	const ways = new Map([[entry, [entry]]]);
	for (const [file, way] of ways) {
		for (const { target, line, specifier } of imports.filter((found) => found.file === file)) {
			const where = `${file}:${line}: imports ${specifier}, so that ${entry} reaches`;
			if (target.type === "package" && !packages.includes(target.name)) {
				faults.push(`${where} ${target.name}: ${[...way, target.name].join(" → ")} (${MAP_PATH})`);
			}
			if (target.type !== "file" || ways.has(target.path)) continue;
			const next = [...way, target.path];
			ways.set(target.path, next);
			if (!parts.some((allowed) => covers(allowed, target.path))) {
				faults.push(`${where} ${target.path}: ${next.join(" → ")} (${MAP_PATH})`);
			}
		}
	}
	return faults;
}

function describe({ kind, specifier }: Import): string {
	return specifier === null ? `${kind} of what is computed` : `${kind} ${JSON.stringify(specifier)}`;
}

function list(allowed: readonly string[]): string {
	return allowed.length === 0 ? "nothing" : `only ${allowed.join(", ")}`;
}
