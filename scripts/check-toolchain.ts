/**
 * Checks that package-lock.json is complete, with a hash for every package, and that one wrangler and one workerd are installed:
 * those the tests run with. For `.ci/run`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { Failure, reportFailure } from "./local/failure.ts";
import { ROOT } from "./local/paths.ts";

const manifest = v.object({
	version: v.optional(v.string()),
	dependencies: v.optional(v.record(v.string(), v.string()), {}),
	devDependencies: v.optional(v.record(v.string(), v.string()), {}),
});
const lockfile = v.object({
	packages: v.record(
		v.string(),
		v.object({
			version: v.optional(v.string()),
			integrity: v.optional(v.string()),
			/** Comes within the tarball of another package, and is covered by its hash. */
			inBundle: v.optional(v.boolean(), false),
			/** Is a workspace of ours. */
			link: v.optional(v.boolean(), false),
			optionalDependencies: v.optional(v.record(v.string(), v.string()), {}),
		}),
	),
});

/**
 * Builds for other systems that the registry did not have when the lock was made, so that their hash is not known. They come with
 * wrangler, which @cloudflare/vitest-plugin pins; where `npm view NAME@VERSION dist.integrity` says a hash, it goes into the lock.
 */
const UNHASHED: readonly string[] = [
	"@cloudflare/workerd-darwin-64@1.20261102.1",
	"@cloudflare/workerd-darwin-arm64@1.20261102.1",
	"@cloudflare/workerd-windows-64@1.20261102.1",
];

function readJson<Output>(schema: v.GenericSchema<unknown, Output>, ...path: string[]): Output {
	return v.parse(schema, JSON.parse(readFileSync(join(ROOT, ...path), "utf8")));
}

/** The package that a path of the lock names, such as `node_modules/a/node_modules/b`. */
function nameOf(path: string): string {
	return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function checkToolchain(): void {
	const pinned = readJson(manifest, "package.json").devDependencies.wrangler;
	const wanted = readJson(manifest, "node_modules", "@cloudflare", "vitest-plugin", "package.json").dependencies.wrangler;
	if (pinned !== wanted)
		throw new Failure(`package.json pins wrangler ${pinned}, but @cloudflare/vitest-plugin depends on ${wanted}. Pin that one.`);

	const ownNode = readJson(manifest, "package.json").devDependencies.node;
	const named = readFileSync(join(ROOT, ".node-version"), "utf8").trim();
	if (named !== ownNode) throw new Failure(`.node-version names Node ${named}, but package.json pins ${ownNode}. Name that one.`);

	const { packages } = readJson(lockfile, "package-lock.json");
	const locked = new Set(Object.keys(packages).map(nameOf));
	const missing = Object.values(packages).flatMap(({ optionalDependencies }) =>
		Object.keys(optionalDependencies).filter((name) => !locked.has(name)),
	);
	if (missing.length > 0) {
		throw new Failure(
			`package-lock.json has no entry for ${missing.join(", ")}: npm ci refuses it in a fresh clone. Complete it, for other platforms as well.`,
		);
	}

	const unhashed = Object.entries(packages)
		.filter(([path, { integrity, inBundle, link }]) => path.includes("node_modules/") && integrity === undefined && !inBundle && !link)
		.map(([path, { version }]) => `${nameOf(path)}@${version}`);
	const unexpected = unhashed.filter((name) => !UNHASHED.includes(name));
	if (unexpected.length > 0) throw new Failure(`package-lock.json has no integrity hash for ${unexpected.join(", ")}.`);
	const hashed = UNHASHED.filter((name) => !unhashed.includes(name));
	if (hashed.length > 0) throw new Failure(`UNHASHED names what has a hash, or is not locked any more: ${hashed.join(", ")}.`);
	console.log(`${Object.keys(packages).length - 1} packages locked, ${unhashed.length} of them, for other systems, without a hash`);

	const copies = (name: string): string[] =>
		Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`) && existsSync(join(ROOT, path)));
	for (const name of ["wrangler", "workerd"]) {
		const found = copies(name);
		if (found.length !== 1) throw new Failure(`There should be one ${name}, but there are ${found.length}: ${found.join(", ")}`);
		console.log(`${name} ${readJson(manifest, ...found, "package.json").version}`);
	}
	console.log(`node ${process.versions.node}`);
}

try {
	checkToolchain();
} catch (error) {
	reportFailure(error);
}
