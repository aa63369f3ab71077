/** Compresses a body as a client would. */
export async function gzip(body: string | Uint8Array): Promise<Uint8Array> {
	const stream = new Blob([body]).stream().pipeThrough(new CompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}
