/** A guide as a page, beside the list of all guides. */
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Layout, type LinkGroup, Stylesheet } from "../console/ui/layout.tsx";
import type { Guide } from "./guides.ts";

function menuOf(guides: readonly Guide[]): LinkGroup[] {
	return [
		{ heading: "Guides", links: guides.map(({ address, title }) => ({ href: address, label: title })) },
		{
			heading: "Elsewhere",
			links: [
				{ href: "/docs", label: "API reference" },
				{ href: "/", label: "Front page" },
			],
		},
	];
}

export function GuidePage({ guide, guides }: { guide: Guide; guides: readonly Guide[] }): JSX.Element {
	const next = guides[guides.indexOf(guide) + 1];
	return (
		<Layout title={guide.title} over="Guides" menu={menuOf(guides)} menuLabel="Guides" path={guide.address}>
			<Stylesheet name="guides.css" />
			<article class="guide">
				{guide.sections.length < 2 ? null : (
					<nav class="contents" aria-label="On this page">
						<ul>
							{guide.sections.map(({ id, title }) => (
								<li>
									<a href={`#${id}`}>{title}</a>
								</li>
							))}
						</ul>
					</nav>
				)}
				{raw(guide.html)}
				{next === undefined ? null : (
					<p>
						Next: <a href={next.address}>{next.title}</a>
					</p>
				)}
			</article>
		</Layout>
	);
}

/** In the place of a page that is not there. */
export function NoSuchGuide({ guides }: { guides: readonly Guide[] }): JSX.Element {
	return (
		<Layout title="There is no such page" over="Guides" menu={menuOf(guides)} menuLabel="Guides">
			<p>
				<a href="/docs/publishers">The first of the guides</a> says what to read; every endpoint is in the <a href="/docs">API reference</a>
				.
			</p>
		</Layout>
	);
}
