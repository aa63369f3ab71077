/**
 * The least that a redirect can cost: opens a token, sets its location, reads two headers, and waits, after its answer, for a send. What the
 * `redirect` benchmark has beside its baseline, which answers a constant.
 */
import { content, KEY_LENGTH, NONCE_LENGTH, open, seal } from "../../src/click-token/chacha20-poly1305.ts";

const HEADERS = new Headers({
	"cache-control": "no-store",
	"referrer-policy": "strict-origin-when-cross-origin",
	"x-robots-tag": "noindex, nofollow",
});
const DECODER = new TextDecoder();
const KEY = new Uint8Array(KEY_LENGTH);
const NONCE = new Uint8Array(NONCE_LENGTH);
const CONTENT = JSON.stringify([
	0,
	"acme_rtb",
	1,
	"shoes.example",
	5001,
	336_000,
	0,
	"8f1c6e0e-51d7-4b3a-9a56-000000000012",
	1_795_300_000_000,
]);
const opened = new Uint8Array(512);
const TOKEN = seal(KEY, NONCE, new TextEncoder().encodeInto(CONTENT, content).written).toBase64();

async function record(message: unknown): Promise<unknown> {
	await Promise.resolve();
	return message;
}

export default {
	fetch(request, _env, ctx) {
		const { written } = opened.setFromBase64(TOKEN);
		const plain = open(KEY, NONCE, opened.subarray(0, written));
		if (plain === null) throw new Error("the token does not open");
		const fields = JSON.parse(DECODER.decode(plain)) as unknown[];
		const { url, headers } = request;
		ctx.waitUntil(record({ url, fields, address: headers.get("cf-connecting-ip"), userAgent: headers.get("user-agent") }));
		HEADERS.set("location", `https://track.northwind.example/c?m=301&sub=${String(fields[7])}`);
		return new Response(null, { status: 302, headers: HEADERS });
	},
} satisfies ExportedHandler;
