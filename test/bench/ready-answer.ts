/**
 * Baseline of the `brands-list` benchmark: answers with bytes that were given to it before, from memory, and a constant 304 to
 * whoever sends a validator.
 */
let bytes = new ArrayBuffer(0);
let encoding: string | null = null;

export default {
	async fetch(request) {
		if (request.method === "PUT") {
			bytes = await request.arrayBuffer();
			encoding = new URL(request.url).searchParams.get("encoding");
			return new Response(null, { status: 204 });
		}
		if (request.headers.has("if-none-match")) return new Response(null, { status: 304, headers: { etag: 'W/"constant"' } });
		return new Response(bytes, {
			headers: { "content-type": "application/json", ...(encoding !== null && { "content-encoding": encoding }) },
			encodeBody: "manual",
		});
	},
} satisfies ExportedHandler;
