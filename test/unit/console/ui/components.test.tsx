/** What the console's components hold, whatever page uses them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { describe, expect, it } from "vitest";
import { Confirm, CopyText, Do } from "../../../../src/console/ui/actions.tsx";
import { addressOf } from "../../../../src/console/ui/address.ts";
import { Field } from "../../../../src/console/ui/field.tsx";
import { Filters, Pager, Periods, Tabs } from "../../../../src/console/ui/filters.tsx";
import { Layout, writePage } from "../../../../src/console/ui/layout.tsx";
import { Empty, Faults, Notice } from "../../../../src/console/ui/messages.tsx";
import { OPERATOR_MENU, PUBLISHER_MENU } from "../../../../src/console/ui/navigation.ts";
import { Facts, Figures, Table } from "../../../../src/console/ui/table.tsx";
import { toneOf } from "../../../../src/console/ui/tones.ts";
import { Code, Count, Money, Percent, State, Time } from "../../../../src/console/ui/values.tsx";
import { CALLBACK_STATES, CONVERSION_STAGES, CONVERSION_STATUSES, POSTBACK_OUTCOMES, VERDICTS } from "../../../../src/lib/enums.ts";

/** What a person may have typed anywhere. */
const HOSTILE = `"><script>alert('x')</script>&amp;`;

const render = async (element: JSX.Element | null) => String(await element);
const textOf = async (element: JSX.Element) => (await render(element)).replace(/<[^>]*>/g, "");

describe("unit: values", () => {
	it.each([
		["12.5000", "$12.5000"],
		["0.0042", "$0.0042"],
		["-5.0000", "−$5.0000"],
		["1234567.8900", "$1,234,567.8900"],
		["999.123456", "$999.123456"],
		["7", "$7.00"],
	])("an amount of %s USD reads %s, and is kept as it is", async (usd, text) => {
		expect(await textOf(<Money usd={usd} />)).toBe(text);
		expect(await render(<Money usd={usd} />)).toContain(`value="${usd}"`);
	});

	it("what is no amount is no page", async () => {
		for (const usd of ["", "1e5", "NaN", "1.2.3", HOSTILE])
			await expect(async () => render(<Money usd={usd} />)).rejects.toThrow("no amount");
	});

	it("a time is written in UTC with its zone, whatever the offset it came with", async () => {
		expect(await textOf(<Time at="2026-02-28T23:30:15.250-02:00" />)).toBe("2026-03-01 01:30:15 UTC");
		expect(await render(<Time at="2026-02-28T23:30:15.250-02:00" />)).toContain('datetime="2026-03-01T01:30:15.250Z"');
		expect(await textOf(<Time at={0} />)).toBe("1970-01-01 00:00:00 UTC");
		expect(await render(<Time at="2026-03-01" date />)).toMatch(/datetime="2026-03-01".*2026-03-01 .*UTC/);
	});

	it("what is not there is said to be none", async () => {
		for (const none of [<Money usd={null} />, <Time at={null} />, <Count of={undefined} />, <Percent of={null} />, <Code>{""}</Code>]) {
			expect(await textOf(none)).toBe("–none");
		}
	});

	it("numbers have their thousands apart", async () => {
		expect(await textOf(<Count of={-1234567} />)).toBe("−1,234,567");
		expect(await textOf(<Count of={0} />)).toBe("0");
		expect(await textOf(<Percent of={0.12345} />)).toBe("12.3%");
	});

	it("a state is its word, in the tone of what it means", async () => {
		expect(await render(<State word="given_up" />)).toBe('<span class="state bad">given up</span>');
		expect(await render(<State word="approved" />)).toContain("good");
		const known = [CONVERSION_STAGES, CONVERSION_STATUSES, VERDICTS, CALLBACK_STATES, POSTBACK_OUTCOMES].flat();
		expect(known.filter((word) => toneOf(word) === "plain")).toEqual([]);
		expect(await render(<State word="never heard of" />)).toContain("plain");
	});
});

describe("unit: tables", () => {
	const rows = [
		{ day: "2026-03-01", paid: 2, earned: "1.0000" },
		{ day: "2026-03-02", paid: 3, earned: "2.5000" },
	];
	const table = (shown: typeof rows) => (
		<Table
			caption="Earnings by day"
			rows={shown}
			empty={<Empty title="No earnings">Ask for a link.</Empty>}
			columns={[
				{ head: "Day", cell: ({ day }) => <Time at={day} date /> },
				{ head: "Paid clicks", kind: "number", cell: ({ paid }) => <Count of={paid} />, total: <Count of={5} /> },
				{ head: "Earned", kind: "money", cell: ({ earned }) => <Money usd={earned} />, total: <Money usd="3.5000" /> },
			]}
		/>
	);

	it("name each column and each row, and say the currency", async () => {
		const html = await render(table(rows));
		expect(html.match(/<th scope="col"/g)).toHaveLength(3);
		expect(html.match(/<th scope="row"/g)).toHaveLength(3);
		expect(html).toContain('Earned<span class="unit"> USD</span>');
		expect(html).toContain('<th scope="row">Total</th>');
		expect(html).toMatch(/aria-labelledby="(table-earnings-by-day)" tabindex="0"><table><caption id="\1"/);
	});

	it("leave a column out where no row has anything in it", async () => {
		const heads = async (rows: { why: string | null }[]) =>
			textOf(
				<Table
					caption="Clicks"
					quiet
					columns={[
						{ head: "Click;", cell: () => "" },
						{ head: "Why;", cell: ({ why }) => why, isGiven: ({ why }) => why !== null },
					]}
					rows={rows}
					empty={null}
				/>,
			);
		expect(await heads([{ why: null }, { why: null }])).toBe("ClicksClick;");
		expect(await heads([{ why: null }, { why: "so" }])).toBe("ClicksClick;Why;so");
	});

	it("without rows say what to do", async () => {
		expect(await render(table([]))).toBe('<div class="empty"><p class="title">No earnings</p>Ask for a link.</div>');
	});
});

describe("unit: addresses", () => {
	const query = { brand: "a&b=c.example", from: "2026-03-01", cursor: "old", note: "" };

	it("keep the filters, and leave out what is empty", () => {
		expect(addressOf("/console/clicks", query, { cursor: null, to: "2026-03-02" })).toBe(
			"/console/clicks?brand=a%26b%3Dc.example&from=2026-03-01&to=2026-03-02",
		);
		expect(addressOf("/console/clicks", { cursor: "x" }, { cursor: null })).toBe("/console/clicks");
	});

	it("of the next page have its cursor and the same filters, of the first page no cursor", async () => {
		const html = await render(<Pager path="/console/clicks" query={query} next="new+/=" />);
		expect(html).toContain('href="/console/clicks?brand=a%26b%3Dc.example&amp;from=2026-03-01&amp;cursor=new%2B%2F%3D"');
		expect(html).toContain('href="/console/clicks?brand=a%26b%3Dc.example&amp;from=2026-03-01">First page</a>');
	});

	it("are none where there is one page, and say so on the last of several", async () => {
		expect(await render(<Pager path="/p" query={{}} next={null} />)).toBe("");
		expect(await render(<Pager path="/p" query={query} next={null} />)).toContain("No more");
	});

	it("of a tab keep the filters and begin at the first page", async () => {
		const tabs = [
			{ value: "day", label: "Day" },
			{ value: "brand", label: "Brand" },
		];
		const html = await render(<Tabs label="By" path="/p" query={{ ...query, brand: "" }} name="group" tabs={tabs} />);
		expect(html).toContain('<a href="/p?from=2026-03-01&amp;group=day" aria-current="page">Day</a>');
		expect(html).toContain('<a href="/p?from=2026-03-01&amp;group=brand">Brand</a>');
	});
});

describe("unit: forms", () => {
	it("filters are filled in from the address; kept parameters stay, the cursor does not", async () => {
		const html = await render(
			<Filters
				path="/p"
				query={{ from: "2026-03-01", state: "pending", id: HOSTILE, late: "true", group: "day", cursor: "c" }}
				kept={["group"]}
				filters={[
					{ kind: "date", name: "from", label: "From" },
					{ kind: "choice", name: "state", label: "State", choices: [{ value: "pending", label: "Pending" }] },
					{ kind: "text", name: "id", label: "Any id", hint: "Of a click or a conversion" },
					{ kind: "check", name: "late", label: "Late alone" },
				]}
			/>,
		);
		expect(html).toContain('type="date" id="filter-from" name="from" value="2026-03-01"');
		expect(html).toContain('<option value="pending" selected="">Pending</option>');
		expect(html).toContain('name="late" value="true" checked=""');
		expect(html).toContain('<input type="hidden" name="group" value="day"/>');
		expect(html).toContain('<a href="/p?group=day">Clear</a>');
		expect(html).toContain('<label for="filter-id">Any id<span class="hint"> Of a click or a conversion</span></label>');
		expect(html).not.toContain('"cursor"');
		expect(html).not.toContain("<script");
	});

	it("filters show the period that the page is of, and lead to the usual ones", async () => {
		const shown = { from: "2026-02-01", to: "2026-02-28" };
		const form = await render(
			<Filters path="/x" query={{ group: "brand" }} shown={shown} filters={[{ kind: "date", name: "from", label: "From" }]}>
				<Periods path="/x" query={{ group: "brand", cursor: "c" }} now={Date.parse("2026-03-31T23:59:59Z")} shown={shown} />
			</Filters>,
		);
		expect(form).toContain('name="from" value="2026-02-01"');
		expect(form).not.toContain("Clear");
		const links = [...form.matchAll(/href="\/x\?([^"]*)"( aria-current="true")?>([^<]*)</g)].map(([, query = "", current, label]) => {
			const { group, from, to, cursor } = Object.fromEntries(new URLSearchParams(query.replaceAll("&amp;", "&")));
			return [label, group, from, to, cursor, current !== undefined];
		});
		expect(links).toEqual([
			["Today", "brand", "2026-03-31", "2026-03-31", undefined, false],
			["7 days", "brand", "2026-03-25", "2026-03-31", undefined, false],
			["30 days", "brand", "2026-03-02", "2026-03-31", undefined, false],
			["This month", "brand", "2026-03-01", "2026-03-31", undefined, false],
			["Last month", "brand", "2026-02-01", "2026-02-28", undefined, true],
		]);
	});

	it("a value that is none of the choices is shown, not dropped", async () => {
		const html = await render(<Field kind="choice" label="State" name="state" value="strange" choices={[{ value: "a", label: "A" }]} />);
		expect(html).toContain('<option value="strange" selected="">strange</option>');
	});

	it("a fault is told at its field, and the list leads to it", async () => {
		const faults = [
			{ path: "callback_url", message: "must be https" },
			{ path: "brands[3].domain", message: "is no host" },
			{ path: "", message: "nobody may" },
		];
		const field = await render(
			<Field label="Callback address" name="callback_url" value={HOSTILE} hint="Where sales are told" faults={faults} required />,
		);
		expect(field).toContain('aria-describedby="field-callback-url-hint field-callback-url-fault" aria-invalid="true"');
		expect(field).toContain('<p class="fault" id="field-callback-url-fault">must be https</p>');
		expect(field).not.toContain("<script");
		const list = await render(<Faults title="Not saved" faults={faults} labels={{ callback_url: "Callback address" }} />);
		expect(list).toContain('<li><a href="#field-callback-url">Callback address</a>: must be https</li>');
		expect(list).toContain("<li>brands[3].domain: is no host</li><li>nobody may</li>");
		expect(await render(<Field label="Name" name="name" faults={faults} />)).not.toMatch(/fault|aria-/);
	});

	it("what cannot be taken back is a form of its own, that needs no script", async () => {
		const html = await render(
			<Confirm action="/console/keys" label="Revoke" question="Calls with it fail at once." fields={{ id: HOSTILE }} of="key 7" danger />,
		);
		expect(html).toMatch(
			/<details><summary>Revoke…<span class="unseen"> key 7<\/span><\/summary><form method="post" action="\/console\/keys">/,
		);
		expect(html).not.toContain("<script");
		expect(await render(<Do action="/console/test" label="Test" />)).toContain('<button type="submit" class="quiet">Test</button>');
	});
});

describe("unit: the layout", () => {
	it("is a document with one h1, which a person who is signed in can leave", async () => {
		const html = await writePage(
			<Layout
				title={HOSTILE}
				over="Harbour Deals"
				menu={PUBLISHER_MENU}
				path="/console/clicks"
				person={{ name: HOSTILE, role: "owner" }}
				banner={<Notice>Hello</Notice>}
			>
				<Facts
					facts={[
						["Sub ids", HOSTILE],
						["Without", null],
					]}
				/>
				<Figures figures={[{ name: "Clicks", value: 3, note: "today" }]} />
				<CopyText text={HOSTILE} label={HOSTILE} />
			</Layout>,
		);
		expect(html).toMatch(/^<!doctype html><html lang="en"><head><meta charset="utf-8"\/><title>/);
		expect(html.match(/<h1>/g)).toHaveLength(1);
		expect(html.match(/<script/g)).toHaveLength(1);
		expect(html).toMatch(/<script type="module" src="\/console\/assets\/console\.[0-9a-f]{12}\.js"><\/script>/);
		expect(html).toMatch(/<link rel="stylesheet" href="\/console\/assets\/console\.[0-9a-f]{12}\.css"\/>/);
		expect(html).toContain('<form method="post" action="/console/sign-out">');
		expect(html.match(/aria-current/g)).toHaveLength(1);
		expect(html).not.toMatch(/ style=| on\w+=|Without/);
	});

	it("says on a page beneath one of the menu which it belongs to, the nearest", async () => {
		const html = await writePage(<Layout title="Brand" menu={OPERATOR_MENU} path="/console/operator/brands/shoes.example" />);
		expect(html).toContain('<a href="/console/operator/brands" aria-current="true">Brands</a>');
		expect(html.match(/aria-current/g)).toHaveLength(1);
	});

	it("needs no person and no menu", async () => {
		const html = await writePage(<Layout title="Guides">Text</Layout>);
		expect(html).not.toMatch(/sign-out|<nav|popover/);
		expect(html).toContain('<body class="narrow">');
	});
});
