/** The Serving Engine's rules. */
import { type Answer, bodyOf, expectEqual, expectThat, isJson, parseUrl, type Rule, type Sent, type Subject, shown } from "./rule.ts";

function ask(subject: Subject, changes: Record<string, string | null> = {}): Sent {
	const parameters = new URLSearchParams({ pubi: subject.publisherId ?? "", bd: subject.domain, cc: "US" });
	for (const [name, value] of Object.entries(changes)) {
		if (value === null) parameters.delete(name);
		else parameters.set(name, value);
	}
	return { method: "GET", path: `/serving-engine?${parameters}` };
}

function hasStatus(answer: Answer, status: 0 | 1): string[] {
	return [...expectEqual("HTTP status", answer.status, 200), ...expectEqual("status", bodyOf(answer).status, status)];
}

function missing(name: string, changes: Record<string, null>, word: RegExp): Rule {
	return {
		name: `${name} missing: status 0 with an error that says so`,
		send: (subject) => ask(subject, changes),
		check: (answer) => [
			...hasStatus(answer, 0),
			...expectThat(word.test(String(bodyOf(answer).error)), `error is ${shown(bodyOf(answer).error)}`),
		],
	};
}

function noAd(name: string, changes: Record<string, string>): Rule {
	return {
		name: `${name}: status 0 without an error`,
		send: (subject) => ask(subject, changes),
		check: (answer) => [...hasStatus(answer, 0), ...expectEqual("fields", Object.keys(bodyOf(answer)), ["status"])],
	};
}

const RULES: readonly Rule[] = [
	{
		name: "an ad: bid_amount with four decimals, a redirect_url with encyp and cc, is_deeplink No, no error",
		send: (subject) => ask(subject),
		check(answer) {
			const { bid_amount: amount, redirect_url: url, is_deeplink: deeplink, error } = bodyOf(answer);
			const isAmount = typeof amount === "string" && /^\d+\.\d{4}$/.test(amount) && Number(amount) > 0;
			const link = parseUrl(String(url));
			return [
				...hasStatus(answer, 1),
				...isJson(answer),
				...expectThat(isAmount, `bid_amount is ${shown(amount)}`),
				...expectThat(/^https?:$/.test(link?.protocol ?? ""), `redirect_url is ${shown(url)}`),
				...expectThat((link?.searchParams.get("encyp") ?? "") !== "", "redirect_url has no encyp"),
				...expectEqual("redirect_url's cc", link?.searchParams.get("cc") ?? null, "US"),
				...expectEqual("is_deeplink", deeplink, "No"),
				...expectThat(error === undefined, "an ad has an error"),
			];
		},
	},
	{
		name: "a click id and a source are passed on as clickid and subi",
		send: (subject) => ask(subject, { clickid: "certify-click", subid: "certify-source" }),
		check(answer) {
			const parameters = parseUrl(String(bodyOf(answer).redirect_url))?.searchParams;
			return [
				...expectEqual("clickid", parameters?.get("clickid") ?? null, "certify-click"),
				...expectEqual("subi", parameters?.get("subi") ?? null, "certify-source"),
			];
		},
	},
	{
		name: "a deeplink of another host is answered with the homepage",
		send: (subject) => ask(subject, { dl: "https://certify-elsewhere.invalid/" }),
		check: (answer) => [
			...hasStatus(answer, 1),
			...expectEqual("is_deeplink", bodyOf(answer).is_deeplink, "No"),
			...expectThat(!String(bodyOf(answer).redirect_url).includes("certify-elsewhere"), "redirect_url leads elsewhere"),
		],
	},
	missing("country", { cc: null }, /country/i),
	missing("brand domain", { bd: null }, /brand domain/i),
	missing("publisher id", { pubi: null }, /publisher/i),
	noAd("an unknown brand", { bd: "certify-no-such-brand.invalid" }),
	noAd("an unknown publisher", { pubi: "certify-nobody" }),
	noAd("a floor above the bid", { fbid: "1000000" }),
	{
		name: "a floor of the very bid is an ad",
		first: (subject) => ask(subject),
		lacks: (first) => expectThat(bodyOf(first).bid_amount !== undefined, "the ad without a floor has no bid_amount"),
		send: (subject, first) => ask(subject, { fbid: first === null ? "" : String(bodyOf(first).bid_amount) }),
		check: (answer, _subject, first) => [
			...hasStatus(answer, 1),
			...expectEqual("bid_amount", bodyOf(answer).bid_amount, first === null ? null : bodyOf(first).bid_amount),
		],
	},
	{
		name: "a page of the brand: is_deeplink Yes, and dl on the link",
		needs: ["deeplink"],
		send: (subject) => ask(subject, { dl: subject.deeplink }),
		check: (answer, { deeplink }) => [
			...hasStatus(answer, 1),
			...expectEqual("is_deeplink", bodyOf(answer).is_deeplink, "Yes"),
			...expectEqual("dl", parseUrl(String(bodyOf(answer).redirect_url))?.searchParams.get("dl") ?? null, deeplink),
		],
	},
];

export const SERVING_ENGINE_RULES: readonly Rule[] = RULES.map((rule) => ({ ...rule, needs: ["publisherId", ...(rule.needs ?? [])] }));
