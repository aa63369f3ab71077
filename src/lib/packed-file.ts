/** Files that were gzipped when the Worker was built. */

export function acceptsGzip(request: Request): boolean {
	return /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
}

/** The file as it is packed to who takes gzip, and unpacked to others. @param bytes gzipped */
export function packedFile(bytes: ArrayBuffer, gzip: boolean, headers: Record<string, string>): Response {
	const varied = { ...headers, vary: "accept-encoding" };
	if (gzip) return new Response(bytes, { headers: { ...varied, "content-encoding": "gzip" }, encodeBody: "manual" });
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), { headers: varied });
}
