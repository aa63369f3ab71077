/** What every page has around its content. It needs no person: the front door and the guides use it as well. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type AssetName, assetPath } from "./asset-paths.ts";

/** The styles of what follows, beside those of every page: browsers show it once they have them. */
export function Stylesheet({ name }: { name: Extract<AssetName, `${string}.css`> }): JSX.Element {
	return <link rel="stylesheet" href={assetPath(name)} />;
}

type Link = { href: string; label: string };
/** Links of the menu that belong together. */
export type LinkGroup = { heading?: string; links: readonly Link[] };

export type LayoutProps = {
	/** The page's only h1, and what its tab says. */
	title: string;
	/** What stands over the title in small letters: whose page it is, or what it is part of. */
	over?: Child;
	/** Links and forms beside the title. */
	actions?: Child;
	menu?: readonly LinkGroup[];
	/** What the menu is of. */
	menuLabel?: string;
	/** Whether it says that something was not done: the first word of its title in the browser, which is read out. */
	isRefused?: boolean;
	/** The page's path: of its link in the menu, it is said that it is this page. */
	path?: string;
	/** Who is signed in, and as what. */
	person?: { name: string; role: string };
	/** What stands before all else on the page, such as that another's console is shown. */
	banner?: Child;
	/** Scripts that this page needs beside the one of every page. */
	scripts?: readonly AssetName[];
	children?: Child;
};

/** A whole document but for its doctype, which {@link writePage} sets before it. */
export function Layout(props: LayoutProps): JSX.Element {
	const {
		title,
		isRefused = false,
		over,
		actions,
		menu = [],
		menuLabel = "Console",
		path = "",
		person,
		banner,
		scripts = [],
		children,
	} = props;
	return (
		<html lang="en">
			<head>
				<meta charset="utf-8" />
				<title>{`${isRefused ? "Not done: " : ""}${title} · Clickbourse`}</title>
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<meta name="color-scheme" content="light dark" />
				<link rel="icon" href="/favicon.ico" />
				<Stylesheet name="console.css" />
				{["console.js" as const, ...scripts].map((name) => (
					<script type="module" src={assetPath(name)} />
				))}
			</head>
			<body class={menu.length === 0 ? "narrow" : undefined}>
				<a class="skip" href="#main">
					Skip to the content
				</a>
				<header class="top">
					<a class="brand" href="/">
						<Mark />
						Clickbourse
					</a>
					{menu.length === 0 ? null : (
						<button class="menu-button" type="button" popovertarget="menu">
							Menu
						</button>
					)}
					{person === undefined ? null : <SignedIn {...person} />}
				</header>
				{menu.length === 0 ? null : <Menu menu={menu} label={menuLabel} path={path} />}
				<main id="main" tabindex={-1}>
					{banner}
					<div class="head">
						<div>
							{over === undefined ? null : <p class="over">{over}</p>}
							<h1>{title}</h1>
						</div>
						{actions === undefined ? null : <div class="actions">{actions}</div>}
					</div>
					{children}
				</main>
				<footer>
					<p>All times are in UTC. All amounts are in US dollars (USD).</p>
				</footer>
			</body>
		</html>
	);
}

/** The document as it is sent. */
export async function writePage(page: JSX.Element): Promise<string> {
	return `<!doctype html>${await page}`;
}

function SignedIn({ name, role }: { name: string; role: string }): JSX.Element {
	return (
		<div class="person">
			<p>
				<strong>{name}</strong> <span>{role}</span>
			</p>
			<form method="post" action="/console/sign-out">
				<button type="submit" class="quiet">
					Sign out
				</button>
			</form>
		</div>
	);
}

/** A column beside the page; where that is too narrow, what the button opens: it needs no script for that. */
function Menu({ menu, label, path }: { menu: readonly LinkGroup[]; label: string; path: string }): JSX.Element {
	const current = menu
		.flatMap(({ links }) => links)
		.filter(({ href }) => path === href || path.startsWith(`${href}/`))
		.sort((a, b) => b.href.length - a.href.length)[0];
	return (
		<nav id="menu" class="menu" popover="auto" aria-label={label}>
			<div>
				{menu.map(({ heading, links }) => (
					<>
						{heading === undefined ? null : <p class="heading">{heading}</p>}
						<ul>
							{links.map((link) => (
								<li>
									<a href={link.href} aria-current={link !== current ? undefined : link.href === path ? "page" : "true"}>
										{link.label}
									</a>
								</li>
							))}
						</ul>
					</>
				))}
			</div>
		</nav>
	);
}

function Mark(): JSX.Element {
	return (
		<svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
			<path d="M3 17V9h3.2v8zM8.4 17V3h3.2v14zM13.8 17v-5.6H17V17z" />
		</svg>
	);
}
