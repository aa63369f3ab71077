/** Signs people in by their one-time links, as their browser does when they press the button. */

/** As whom a test opens pages: an owner of the demo's first publisher, or an admin of the staff. */
export type Role = "publisher" | "operator";
export type Cookie = { name: string; value: string };

const PEOPLE = {
	publisher: { publisher: "acme-media", name: "Owner of the tests" },
	operator: { staff: "Admin of the tests", role: "admin" },
} as const;

type Service = { url: string; operatorKey: string };

/** A one-time link. @param person as the body of POST /operator/sign-in-links has them */
export async function makeLink({ url, operatorKey }: Service, person: Readonly<Record<string, string>>): Promise<string> {
	const response = await fetch(`${url}/operator/sign-in-links`, {
		method: "POST",
		headers: { OperatorKey: operatorKey, "content-type": "application/json" },
		body: JSON.stringify(person),
	});
	if (!response.ok) throw new Error(`POST /operator/sign-in-links: HTTP ${response.status} ${await response.text()}`);
	return ((await response.json()) as { url: string }).url;
}

/** The cookies of a session that begins with this. */
export async function signIn(service: Service, role: Role): Promise<Cookie[]> {
	const link = await makeLink(service, PEOPLE[role]);
	const response = await fetch(link, { method: "POST", redirect: "manual", headers: { origin: service.url } });
	if (response.status !== 303) throw new Error(`The link did not sign in: HTTP ${response.status} ${await response.text()}`);
	return response.headers.getSetCookie().map((text) => {
		const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
		return { name, value };
	});
}
