/** The guides that are served as pages. Plain JavaScript, as render-guides.mjs is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { renderGuides } from "./render-guides.mjs";

/** Guides for publishers, their lawyers and platforms beside those in docs/publishers. */
const FURTHER_FILES = ["docs/callbacks.md", "docs/postbacks.md", "docs/privacy.md", "docs/reports.md"];

/** All of them as JSON. @param {string} root the project's folder */
export function readGuides(root) {
	const own = readdirSync(join(root, "docs/publishers")).filter((name) => name.endsWith(".md"));
	const files = [...own.map((name) => `docs/publishers/${name}`), ...FURTHER_FILES];
	return JSON.stringify(renderGuides(new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]))));
}
