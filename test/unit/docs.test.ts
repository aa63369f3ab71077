/**
 * The documents: every link between them leads somewhere, every path that they name exists, every decision is in the index, and
 * no line is too long.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const PAGES = globSync(["*.md", "docs/**/*.md"]);

/** The text of a page without its code: what stands there is no link. */
function prose(page: string): string {
	return readFileSync(page, "utf8")
		.replaceAll(/^```[\s\S]*?^```/gm, "")
		.replaceAll(/`[^`\n]*`/g, "");
}

/** Anchors of a page's headings, as GitHub makes them. */
function anchors(page: string): string[] {
	const headings = readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm);
	return [...headings].map(([, heading = ""]) =>
		heading
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, "")
			.replaceAll(" ", "-"),
	);
}

/** A decision or a migration may be named by its number alone. */
function isThere(path: string): boolean {
	return existsSync(path) || (/\/\d{4}$/.test(path) && globSync(`${path}[-_]*`).length === 1);
}

describe("unit: documents", () => {
	it.each(PAGES)("%s: every link leads somewhere", (page) => {
		const broken = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
			.map(([, target = ""]) => target)
			.filter((target) => !/^[a-z]+:/.test(target))
			.filter((target) => {
				const [path = "", anchor] = target.split("#");
				const file = path === "" ? page : join(dirname(page), path);
				return !existsSync(file) || (anchor !== undefined && !anchors(file).includes(anchor));
			});
		expect(broken).toEqual([]);
	});

	it.each(PAGES)("%s: every file and folder of the project that it names is there", (page) => {
		const named = [...readFileSync(page, "utf8").matchAll(/`((?:src|test|scripts|docs|drizzle)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
		expect(named.filter((path) => !existsSync(path))).toEqual([]);
	});

	it("every file and folder of the project that a comment names is there", () => {
		const broken = globSync("{src,scripts,test,drizzle}/**/*.{ts,tsx,mjs,sql}", { exclude: ["**/node_modules/**"] }).flatMap((file) => {
			const comments = readFileSync(file, "utf8").match(/\/\*[\s\S]*?\*\/|(?<=^\s*)(?:\/\/|--) .*$/gm) ?? [];
			const named = comments.flatMap((comment) => comment.match(/(?<![\w/-])(?:src|test|scripts|docs|drizzle)\/[\w./-]*\w/g) ?? []);
			return named.filter((path) => !isThere(path)).map((path) => `${file}: ${path}`);
		});
		expect(broken).toEqual([]);
	});

	it.each(PAGES)("%s: no line of prose is longer than 120 characters", (page) => {
		const lines = readFileSync(page, "utf8")
			.replaceAll(/^```[\s\S]*?^```/gm, "")
			.replaceAll(/^<!-- Printed[\s\S]*?^<!-- End/gm, "")
			.split("\n");
		// A table's row cannot be broken, nor a word that is longer itself.
		const long = lines.filter((line) => line.length > 120 && !/^(\|| {4})/.test(line) && !/\S{120}/.test(line));
		expect(long).toEqual([]);
	});

	it.each(PAGES)("%s: no table's rows run into one line", (page) => {
		const joined = prose(page)
			.split("\n")
			.filter((line) => /\|\s*:?-{3,}/.test(line) && !/^\s*[|\s:-]+$/.test(line));
		expect(joined).toEqual([]);
	});

	it("the page of storage names every table", () => {
		const storage = readFileSync("docs/storage.md", "utf8");
		const tables = globSync("src/db/schema/*.ts").flatMap((path) =>
			[...readFileSync(path, "utf8").matchAll(/sqliteTable\(\s*"(\w+)"/g)].map(([, name = ""]) => name),
		);
		expect(tables.length).toBeGreaterThan(20);
		expect(tables.filter((name) => !storage.includes(`\`${name}\``))).toEqual([]);
	});

	it("the index of decisions names each of them once", () => {
		const index = readFileSync("docs/decisions/README.md", "utf8");
		const listed = [...index.matchAll(/\]\((\d{4}-[\w-]+\.md)\)/g)].map(([, name]) => name);
		const present = globSync("docs/decisions/[0-9]*.md").map((path) => basename(path));
		expect(listed).toEqual(present.sort());
	});
});
