/** Guides as pages: what of their Markdown becomes what, and what no page can be made of. */
import { describe, expect, it } from "vitest";
import { renderGuides, START_FILE } from "../../../scripts/guides/render-guides.mjs";

/** The guides of a start page with this text, and of another. */
function render(start: string, other = "# Bids\n") {
	return renderGuides(
		new Map([
			["docs/publishers/bids.md", other],
			[START_FILE, `# Start\n\n[Bids](bids.md)\n\n${start}`],
		]),
	);
}

function htmlOf(start: string): string | undefined {
	return render(start)[0]?.html;
}

describe("unit: rendering guides", () => {
	it("each file is a page named as it is, in the order in which the start page leads to them", () => {
		const files = new Map([
			["docs/reports.md", "# Reports\n"],
			["docs/publishers/bids.md", "# Bids & 'floors', `<more>`\n\n## A\n\n### B\n\n## A\n"],
			[START_FILE, "# Start\n\n[2](bids.md) [1](../reports.md#a) [2](bids.md#a)\n"],
		]);
		expect(renderGuides(files).map(({ html: _html, ...guide }) => guide)).toEqual([
			{ file: START_FILE, address: "/docs/publishers", title: "Start", sections: [] },
			{
				file: "docs/publishers/bids.md",
				address: "/docs/publishers/bids",
				title: "Bids & 'floors', <more>",
				sections: [
					{ id: "a", title: "A" },
					{ id: "a-1", title: "A" },
				],
			},
			{ file: "docs/reports.md", address: "/docs/reports", title: "Reports", sections: [] },
		]);
	});

	it("headings have anchors as GitHub makes them, and lead to themselves", () => {
		expect(htmlOf('## Deduplicate by `Idempotency-Key`, "é" & co')).toContain(
			'<h2 id="deduplicate-by-idempotency-key-é--co">Deduplicate by <code>Idempotency-Key</code>, &quot;é&quot; &amp; co ' +
				'<a class="anchor" href="#deduplicate-by-idempotency-key-é--co" aria-label="Link to “Deduplicate by Idempotency-Key, &quot;é&quot; &amp; co”">#</a></h2>',
		);
	});

	it.each([
		["[x](bids.md#the-click)", '<a href="/docs/publishers/bids#the-click">x</a>'],
		["[x](#errors)", '<a href="#errors">x</a>'],
		["[x](https://docs.example.org/?a=1&b=2)", '<a href="https://docs.example.org/?a=1&amp;b=2">x</a>'],
		["`/docs` and `/docs/x`", '<a href="/docs"><code>/docs</code></a> and <code>/docs/x</code>'],
		// No page of ours: named, not linked.
		["[the desk](../operations.md#a)", "the desk (<code>docs/operations.md</code>)"],
		["[test/client/earnings.ts](../../test/client/earnings.ts)", "<p>test/client/earnings.ts</p>"],
		["http://localhost:8787", "<p>http://localhost:8787</p>"],
		["https://api.example/api", "<p>https://api.example/api</p>"],
	])("%s becomes %s", (markdown, html) => {
		expect(htmlOf(markdown)).toContain(html);
	});

	it("code is text, and tables scroll by themselves", () => {
		expect(htmlOf('```\n<b> & "$x"\n```')).toContain("<pre><code>&lt;b&gt; &amp; &quot;$x&quot;</code></pre>");
		expect(htmlOf("```\n$ curl $URL\n```")).toContain('<pre><code><span class="prompt">$ </span>curl $URL</code></pre>');
		expect(htmlOf("## Words\n\n| | a |\n|---|---|\n| 1 | `<2>` |")).toContain(
			'<div class="scrolls" role="group" aria-label="Table: Words" tabindex="0"><table>\n<thead><tr><td></td><th scope="col">a</th></tr></thead>\n' +
				"<tbody>\n<tr><td>1</td><td><code>&lt;2&gt;</code></td></tr>\n</tbody>\n</table></div>",
		);
	});

	it.each([
		["<script>alert(1)</script>", "holds raw HTML"],
		["text with <b>bold</b>", "holds raw HTML"],
		["![x](x.png)", "shows x.png"],
		["[x](javascript:alert%281%29)", "leads to javascript:"],
		["# Another", "has two titles"],
	])("%s cannot be on a page: it %s", (markdown, fault) => {
		expect(() => render(markdown)).toThrow(fault);
	});

	it("a guide without a title, or that the start page does not lead to, is refused", () => {
		expect(() => render("", "no title\n")).toThrow("docs/publishers/bids.md: has no title");
		const lost = new Map([
			[START_FILE, "# Start\n"],
			["docs/reports.md", "# Reports\n"],
		]);
		expect(() => renderGuides(lost)).toThrow(`${START_FILE} does not lead to docs/reports.md`);
	});
});
