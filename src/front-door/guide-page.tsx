/** A guide as a page, beside the list of all guides. */
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Guide } from "./guides.ts";

export function GuidePage({ guide, guides }: { guide: Guide; guides: readonly Guide[] }): JSX.Element {
	const next = guides[guides.indexOf(guide) + 1];
	return (
		<div class="guide">
			<nav aria-label="Guides">
				<ol>
					{guides.map(({ address, title }) => (
						<li>
							<a href={address} aria-current={address === guide.address ? "page" : undefined}>
								{title}
							</a>
						</li>
					))}
				</ol>
			</nav>
			<article>
				<h1>{guide.title}</h1>
				{guide.sections.length < 2 ? null : (
					<nav aria-label="On this page">
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
		</div>
	);
}

/** In the place of a page that is not there. */
export function NoSuchGuide({ guides }: { guides: readonly Guide[] }): JSX.Element {
	return (
		<>
			<h1>There is no such page</h1>
			<p>
				These are the guides; every endpoint is in the <a href="/docs">API reference</a>.
			</p>
			<ol>
				{guides.map(({ address, title }) => (
					<li>
						<a href={address}>{title}</a>
					</li>
				))}
			</ol>
		</>
	);
}
