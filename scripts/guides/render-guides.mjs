/**
 * Renders the guides of docs/ for the pages that the origin serves: the address of each, its title, its sections and its text as HTML.
 * Pure. Plain JavaScript, because `wrangler deploy` may run it under Node 20.
 */
import { posix } from "node:path";
import { Marked } from "marked";

/** The guide that says what to read first. Others come in the order in which it names them. */
export const START_FILE = "docs/publishers/README.md";

/** What a code span names of this service itself is a link to it. */
const OWN_ADDRESSES = ["/", "/docs", "/openapi.json"];

/**
 * @param {ReadonlyMap<string, string>} files the text of each guide, by its path from the root
 * @returns {import("./render-guides.d.mts").Guide[]}
 * @throws Error for what cannot be a page: a guide that the start page does not name, or without a title; raw HTML; an image
 */
export function renderGuides(files) {
	const rendered = new Map([...files].map(([file, text]) => [file, renderGuide(file, text, files)]));
	const start = rendered.get(START_FILE);
	if (start === undefined) throw new Error(`There is no ${START_FILE}`);
	const order = [...new Set([START_FILE, ...start.named])];
	const unnamed = [...files.keys()].filter((file) => !order.includes(file));
	if (unnamed.length > 0) throw new Error(`${START_FILE} does not lead to ${unnamed.join(", ")}`);
	return order.map((file) => rendered.get(file).guide);
}

/** Where a file's page is: as its path, without `.md`, and without `README`. */
function addressOf(file) {
	return `/${file.replace(/(?:\/README)?\.md$/, "")}`;
}

function renderGuide(file, text, files) {
	const guide = { file, address: addressOf(file), title: "", sections: [], html: "" };
	const named = [];
	const anchors = new Map();
	let under = "";
	// Thrown at the end: to what is thrown while it renders, marked adds where to report it.
	const faults = [];
	const refuse = (fault) => {
		faults.push(fault);
		return "";
	};
	const leadTo = (path) => {
		named.push(path);
		return addressOf(path);
	};
	const marked = new Marked({
		gfm: true,
		renderer: {
			heading({ tokens, depth }) {
				const html = this.parser.parseInline(tokens);
				const words = this.parser.parseInline(tokens, this.parser.textRenderer);
				if (depth === 1) {
					if (guide.title !== "") refuse("has two titles");
					guide.title = words;
					return "";
				}
				under = words;
				const id = newAnchor(words, anchors);
				if (depth === 2) guide.sections.push({ id, title: words });
				return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(words)}”">#</a></h${depth}>\n`;
			},
			link({ href, tokens }) {
				const html = this.parser.parseInline(tokens);
				if (/^https?:/.test(href)) return isAnywhere(href) ? `<a href="${escapeHtml(href)}">${html}</a>` : html;
				if (/^[a-z]+:/i.test(href)) return refuse(`leads to ${href}`);
				const [target = "", anchor] = href.split("#");
				const hash = anchor === undefined ? "" : `#${anchor}`;
				if (target === "") return `<a href="${hash}">${html}</a>`;
				const path = posix.join(posix.dirname(file), target);
				if (files.has(path)) return `<a href="${leadTo(path)}${hash}">${html}</a>`;
				// What is in the project, but is no page, is named.
				return html.includes(path) ? html : `${html} (<code>${escapeHtml(path)}</code>)`;
			},
			codespan({ text: code }) {
				const html = `<code>${escapeHtml(code)}</code>`;
				return OWN_ADDRESSES.includes(code) ? `<a href="${code}">${html}</a>` : html;
			},
			// A prompt is not copied with its command.
			code: ({ text: code }) =>
				`<pre><code>${escapeHtml(code.trimEnd()).replaceAll(/^\$ /gm, '<span class="prompt">$ </span>')}</code></pre>\n`,
			table({ header, rows }) {
				const cells = (row, cell) => `<tr>${row.map((one) => cell(this.parser.parseInline(one.tokens))).join("")}</tr>`;
				// A header without words names nothing.
				const head = cells(header, (html) => (html === "" ? "<td></td>" : `<th scope="col">${html}</th>`));
				const body = rows.map((row) => cells(row, (html) => `<td>${html}</td>`)).join("\n");
				// A wide one scrolls by itself, also by keyboard.
				return `<div class="scrolls" role="group" aria-label="Table: ${escapeHtml(under || guide.title)}" tabindex="0"><table>\n<thead>${head}</thead>\n<tbody>\n${body}\n</tbody>\n</table></div>\n`;
			},
			html: ({ text: raw }) => refuse(`holds raw HTML: ${raw}`),
			image: ({ href }) => refuse(`shows ${href}: guides have no images`),
		},
	});
	guide.html = marked.parse(text);
	if (guide.title === "") refuse("has no title");
	if (faults.length > 0) throw new Error(`${file}: ${faults.join("; ")}`);
	return { guide, named };
}

/** Not on a machine of its own, nor in an example. */
function isAnywhere(href) {
	const { hostname } = new URL(href);
	return hostname !== "localhost" && !hostname.endsWith(".example");
}

/** A heading's anchor, as GitHub makes it. */
function newAnchor(words, known) {
	const anchor = words
		.toLowerCase()
		.replaceAll(/[^\p{L}\p{N} _-]/gu, "")
		.replaceAll(" ", "-");
	const count = known.get(anchor) ?? 0;
	known.set(anchor, count + 1);
	return count === 0 ? anchor : `${anchor}-${count}`;
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escapeHtml(text) {
	return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character]);
}
