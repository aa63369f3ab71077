/**
 * An IPv4 address in dotted form as its 32-bit integer, or null where it is not one.
 * Leading zeros are refused: resolvers read them as octal or decimal at will.
 * @example ipv4ToInteger("1.2.3.4") // 16909060
 */
export function ipv4ToInteger(text: string): number | null {
	const parts = text.split(".");
	if (parts.length !== 4) return null;
	let value = 0;
	for (const part of parts) {
		if (!/^(?:0|[1-9]\d{0,2})$/.test(part)) return null;
		const octet = Number(part);
		if (octet > 255) return null;
		value = value * 256 + octet;
	}
	return value;
}
